#include "textflag.h"

// What a byte of UTF-8 may be, by its high and low half and by the high half
// of the one that follows it: each bit is one thing that is wrong, if all three
// tables have it (John Keiser, Daniel Lemire: Validating UTF-8 In Less Than One
// Instruction Per Byte, 2021). Bit 7, two bytes of a tail in a row, is right
// behind the first of three or four bytes.
DATA utf8First<>+0(SB)/8, $0x0202020202020202
DATA utf8First<>+8(SB)/8, $0x4915012180808080
GLOBL utf8First<>(SB), RODATA|NOPTR, $16

DATA utf8Second<>+0(SB)/8, $0xcbcbcb8b8383a3e7
DATA utf8Second<>+8(SB)/8, $0xcbcbdbcbcbcbcbcb
GLOBL utf8Second<>(SB), RODATA|NOPTR, $16

DATA utf8Third<>+0(SB)/8, $0x0101010101010101
DATA utf8Third<>+8(SB)/8, $0x01010101babaaee6
GLOBL utf8Third<>(SB), RODATA|NOPTR, $16

// What a byte behind a backslash may be, by its halves: "/ \ bfn rt.
DATA escapeLow<>+0(SB)/8, $0x00040008000d0000
DATA escapeLow<>+8(SB)/8, $0x0104000200000000
GLOBL escapeLow<>(SB), RODATA|NOPTR, $16

DATA escapeHigh<>+0(SB)/8, $0x0804020000010000
DATA escapeHigh<>+8(SB)/8, $0x0000000000000000
GLOBL escapeHigh<>(SB), RODATA|NOPTR, $16

// The top bit stays in the first of three bytes less third, and of four less
// fourth.
DATA third<>+0(SB)/8, $0x6060606060606060
DATA third<>+8(SB)/8, $0x6060606060606060
DATA third<>+16(SB)/8, $0x6060606060606060
DATA third<>+24(SB)/8, $0x6060606060606060
GLOBL third<>(SB), RODATA|NOPTR, $32

DATA fourth<>+0(SB)/8, $0x7070707070707070
DATA fourth<>+8(SB)/8, $0x7070707070707070
DATA fourth<>+16(SB)/8, $0x7070707070707070
DATA fourth<>+24(SB)/8, $0x7070707070707070
GLOBL fourth<>(SB), RODATA|NOPTR, $32

DATA top<>+0(SB)/8, $0x8080808080808080
DATA top<>+8(SB)/8, $0x8080808080808080
DATA top<>+16(SB)/8, $0x8080808080808080
DATA top<>+24(SB)/8, $0x8080808080808080
GLOBL top<>(SB), RODATA|NOPTR, $32

DATA bytes<>+0(SB)/8, $0x0000000f1f5c2200
GLOBL bytes<>(SB), RODATA|NOPTR, $8

// func skipBlocks(b *byte, i, n int) int
//
// Y0 is the block, DI its index, DX the last index that a block can have.
// Blocks follow one another without regard to what begins or ends in them, so
// that the processor works on several at once: characters are checked by the
// three bytes before each, and R9 is 1 where the block before ends with a
// backslash that escapes the first byte of this one.
//
// There are two loops, for text without anything special and for all other.
// The second has no branches that depend on what is special: text mixes escapes
// and wide characters so that no processor foresees them. Masks have a bit for
// each byte of the block, AX one more: bit k+1 is set where the text ends at k,
// and bit k where what stands there makes no escape with the byte before it.
TEXT ·skipBlocks(SB), NOSPLIT, $0-32
	MOVQ b+0(FP), SI
	MOVQ i+8(FP), DI
	MOVQ n+16(FP), DX
	MOVQ DI, R10
	SUBQ $32, DX
	CMPQ DI, DX
	JGT  done

	VPBROADCASTB bytes<>+1(SB), Y14 // quote
	VPBROADCASTB bytes<>+2(SB), Y13 // backslash
	VPBROADCASTB bytes<>+3(SB), Y12 // the last control character

plain:
	VMOVDQU   (SI)(DI*1), Y0
	VPCMPEQB  Y0, Y14, Y1
	VPCMPEQB  Y0, Y13, Y2
	VPMINUB   Y0, Y12, Y3
	VPCMPEQB  Y0, Y3, Y3
	VPOR      Y1, Y3, Y1
	VPOR      Y0, Y2, Y3
	VPOR      Y1, Y3, Y3
	VPMOVMSKB Y3, AX
	TESTL     AX, AX
	JNZ       first
	ADDQ      $32, DI
	CMPQ      DI, DX
	JLE       plain
	JMP       done

first: // most texts end here
	VPMOVMSKB Y1, BX
	TZCNTL    AX, AX
	BTL       AX, BX
	JCC       other
	ADDQ      AX, DI
	JMP       done

other:
	VPXOR        Y15, Y15, Y15
	VPBROADCASTB bytes<>+4(SB), Y11 // low half of a byte
	VBROADCASTI128 utf8First<>(SB), Y10
	VBROADCASTI128 utf8Second<>(SB), Y9
	VBROADCASTI128 utf8Third<>(SB), Y8
	VBROADCASTI128 escapeLow<>(SB), Y7
	VBROADCASTI128 escapeHigh<>(SB), Y6
	MOVQ $0xaaaaaaaaaaaaaaaa, R8
	XORL R9, R9
	JMP  special

block:
	VMOVDQU   (SI)(DI*1), Y0
	VPCMPEQB  Y0, Y14, Y1
	VPCMPEQB  Y0, Y13, Y2
	VPMINUB   Y0, Y12, Y3
	VPCMPEQB  Y0, Y3, Y3
	VPOR      Y1, Y3, Y1

special:
	VPMOVMSKB Y1, AX
	VPMOVMSKB Y2, BX

	// Every second backslash of a row is escaped: R13 gets what is.
	ANDNQ BX, R9, R12
	LEAQ  (R12)(R12*1), R13
	ORQ   R8, R13
	SUBQ  R12, R13
	XORQ  R8, R13
	MOVQ  R13, CX
	ANDQ  BX, CX
	SHRQ  $31, CX      // what R9 is next
	ORQ   R9, BX
	XORQ  BX, R13
	ANDNQ AX, R13, AX // escaped quotes end nothing

	VPSRLW    $4, Y0, Y4
	VPAND     Y4, Y11, Y4 // high halves
	VPAND     Y0, Y11, Y5
	VPSHUFB   Y5, Y7, Y5
	VPSHUFB   Y4, Y6, Y3
	VPAND     Y5, Y3, Y5
	VPCMPEQB  Y5, Y15, Y5
	VPMOVMSKB Y5, R12
	ANDQ      R13, R12
	LEAQ      (R12)(AX*2), AX

	VMOVDQU   -1(SI)(DI*1), Y1
	VMOVDQU   -2(SI)(DI*1), Y2
	VMOVDQU   -3(SI)(DI*1), Y3
	VPSHUFB   Y4, Y8, Y5
	VPSRLW    $4, Y1, Y4
	VPAND     Y4, Y11, Y4
	VPSHUFB   Y4, Y10, Y4
	VPAND     Y4, Y5, Y5
	VPAND     Y1, Y11, Y1
	VPSHUFB   Y1, Y9, Y1
	VPAND     Y1, Y5, Y5
	VPSUBUSB  third<>(SB), Y2, Y2 // what began two bytes before
	VPSUBUSB  fourth<>(SB), Y3, Y3 // what began three bytes before
	VPOR      Y2, Y3, Y2
	VPAND     top<>(SB), Y2, Y2
	VPXOR     Y2, Y5, Y5
	VPCMPEQB  Y5, Y15, Y5
	VPMOVMSKB Y5, R11
	NOTL      R11         // what is no character

	MOVQ R11, R12
	ORQ  AX, R12
	JNZ  stop
	MOVQ CX, R9
	ADDQ $32, DI
	CMPQ DI, DX
	JGT  back
	VPMOVMSKB Y0, AX
	ORQ  AX, BX
	JNZ  block
	JMP  plain

stop:
	ADDQ   R11, R11
	TZCNTQ R11, R11
	TZCNTQ AX, AX
	CMPQ   R11, AX
	JLE    back
	LEAQ   -1(DI)(AX*1), DI
	JMP    done

back: // to where the character or escape begins that goes on here
	SUBQ    R9, DI
	MOVQ    DI, AX
	CMPB    -3(SI)(DI*1), $0xf0
	JCS     2(PC)
	LEAQ    -3(DI), AX
	CMPB    -2(SI)(DI*1), $0xe0
	JCS     2(PC)
	LEAQ    -2(DI), AX
	CMPB    -1(SI)(DI*1), $0xc0
	JCS     2(PC)
	LEAQ    -1(DI), AX
	MOVQ    AX, DI
	CMPQ    DI, R10
	CMOVQLT R10, DI

done:
	VZEROUPPER
	MOVQ DI, ret+24(FP)
	RET
