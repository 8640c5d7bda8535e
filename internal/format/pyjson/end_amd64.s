#include "textflag.h"

DATA ends<>+0(SB)/8, $0x000000207d7b5c22
GLOBL ends<>(SB), RODATA|NOPTR, $8

// Both functions go through b in blocks of 64 bytes from b[i] on. DI is the
// index of the block, DX the last that a block can be read from: of the last
// bytes, where less than a block is left, a block is read that ends with them,
// and CX, else 0, is how many of its bytes are before b[i]. Masks have a bit
// for each byte of the block. A backslash at its end that escapes what follows
// is where the next block begins.

// READ(at) loads the block, and makes AX the mask of the quotes that are not
// escaped and R13 how many bytes on the next block begins.
#define READ \
	MOVQ      DI, R9                 \
	CMPQ      DI, DX                 \
	CMOVQGT   DX, R9                 \
	MOVQ      DI, CX                 \
	SUBQ      R9, CX                 \
	VMOVDQU   (SI)(R9*1), Y0         \
	VMOVDQU   32(SI)(R9*1), Y1       \
	VPCMPEQB  Y0, Y15, Y2            \
	VPCMPEQB  Y1, Y15, Y3            \
	VPMOVMSKB Y2, AX                 \
	VPMOVMSKB Y3, BX                 \
	SHLQ      $32, BX                \
	ORQ       BX, AX                 \
	VPCMPEQB  Y0, Y14, Y2            \
	VPCMPEQB  Y1, Y14, Y3            \
	VPMOVMSKB Y2, BX                 \
	VPMOVMSKB Y3, R9                 \
	SHLQ      $32, R9                \
	ORQ       R9, BX                 \
	SHRQ      CX, AX                 \
	SHRQ      CX, BX                 \
	LEAQ      (BX)(BX*1), R9         \
	ORQ       R8, R9                 \
	SUBQ      BX, R9                 \
	XORQ      R8, R9                 \
	MOVQ      R9, R13                \
	ANDQ      BX, R13                \
	SHRQ      $63, R13               \
	NEGQ      R13                    \
	ADDQ      $64, R13               \
	XORQ      BX, R9                 \ // every second backslash of a row is escaped, and what follows one that is not
	ANDNQ     AX, R9, AX

// func quoteIn(b *byte, i, n int) int
TEXT ·quoteIn(SB), NOSPLIT, $0-32
	MOVQ b+0(FP), SI
	MOVQ i+8(FP), DI
	MOVQ n+16(FP), R10
	LEAQ -64(R10), DX
	MOVQ $0xaaaaaaaaaaaaaaaa, R8
	VPBROADCASTB ends<>+0(SB), Y15 // quote
	VPBROADCASTB ends<>+1(SB), Y14 // backslash

block:
	CMPQ DI, R10
	JGE  none
	READ
	TESTQ AX, AX
	JNZ   found
	ADDQ  R13, DI
	JMP   block

found:
	TZCNTQ AX, AX
	LEAQ   1(DI)(AX*1), AX
	CMPQ   AX, R10
	JLE    done

none:
	MOVQ R10, AX

done:
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET

// func closeIn(b *byte, i, n int) int
//
// R11 is how many containers are open, R12 has all bits set within a string.
TEXT ·closeIn(SB), NOSPLIT, $0-32
	MOVQ b+0(FP), SI
	MOVQ i+8(FP), DI
	MOVQ n+16(FP), R10
	LEAQ -64(R10), DX
	MOVQ $0xaaaaaaaaaaaaaaaa, R8
	VPBROADCASTB ends<>+0(SB), Y15 // quote
	VPBROADCASTB ends<>+1(SB), Y14 // backslash
	VPBROADCASTB ends<>+2(SB), Y13 // {
	VPBROADCASTB ends<>+3(SB), Y12 // }
	VPBROADCASTB ends<>+4(SB), Y11 // makes brackets braces
	VPCMPEQB     X10, X10, X10
	XORQ         R11, R11
	XORQ         R12, R12

block:
	CMPQ DI, R10
	JGE  none
	READ

	// From each quote to the next is a string.
	VMOVQ      AX, X2
	VPCLMULQDQ $0, X10, X2, X2
	VMOVQ      X2, AX
	XORQ       R12, AX
	MOVQ       AX, R12
	SARQ       $63, R12

	VPOR      Y0, Y11, Y0
	VPOR      Y1, Y11, Y1
	VPCMPEQB  Y0, Y13, Y2
	VPCMPEQB  Y1, Y13, Y3
	VPMOVMSKB Y2, BX
	VPMOVMSKB Y3, R9
	SHLQ      $32, R9
	ORQ       R9, BX
	SHRQ      CX, BX
	ANDNQ     BX, AX, BX // what opens
	VPCMPEQB  Y0, Y12, Y2
	VPCMPEQB  Y1, Y12, Y3
	VPMOVMSKB Y2, R9
	VPMOVMSKB Y3, R15
	SHLQ      $32, R15
	ORQ       R15, R9
	SHRQ      CX, R9
	ANDNQ     R9, AX, R9 // what closes

	POPCNTQ R9, R15
	CMPQ    R15, R11
	JGE     closing
	SUBQ    R15, R11
	POPCNTQ BX, R15
	ADDQ    R15, R11

next:
	ADDQ R13, DI
	JMP  block

closing: // one by one
	TESTQ  R9, R9
	JZ     closed
	BLSMSKQ R9, R15
	MOVQ   BX, AX
	ANDQ   R15, AX
	POPCNTQ AX, CX
	ADDQ   CX, R11
	XORQ   AX, BX // these are counted
	DECQ   R11
	JLE    found
	BLSRQ  R9, R9
	JMP    closing

closed:
	POPCNTQ BX, R15
	ADDQ    R15, R11
	JMP     next

found:
	TZCNTQ R9, AX
	LEAQ   1(DI)(AX*1), AX
	CMPQ   AX, R10
	JLE    done

none:
	MOVQ R10, AX

done:
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET
