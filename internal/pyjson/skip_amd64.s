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

// More than the last three bytes of a block may be where a character begins
// that the next block ends.
DATA lastBytes<>+0(SB)/8, $0xffffffffffffffff
DATA lastBytes<>+8(SB)/8, $0xffffffffffffffff
DATA lastBytes<>+16(SB)/8, $0xffffffffffffffff
DATA lastBytes<>+24(SB)/8, $0xbfdfefffffffffff
GLOBL lastBytes<>(SB), RODATA|NOPTR, $32

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
// Masks have a bit for each byte of the block: AX of where the text ends or is
// left to the caller, R11 of where the next block begins. Blocks that have
// something special go one way, without branches that depend on what it is:
// text mixes escapes and wide characters so that no processor foresees them.
TEXT ·skipBlocks(SB), NOSPLIT, $0-32
	MOVQ b+0(FP), SI
	MOVQ i+8(FP), DI
	MOVQ n+16(FP), DX
	SUBQ $32, DX
	CMPQ DI, DX
	JGT  done

	VPXOR        Y15, Y15, Y15
	VPBROADCASTB bytes<>+1(SB), Y14 // quote
	VPBROADCASTB bytes<>+2(SB), Y13 // backslash
	VPBROADCASTB bytes<>+3(SB), Y12 // the last control character
	VPBROADCASTB bytes<>+4(SB), Y11 // low half of a byte
	VBROADCASTI128 utf8First<>(SB), Y10
	VBROADCASTI128 utf8Second<>(SB), Y9
	VBROADCASTI128 utf8Third<>(SB), Y8
	MOVQ $0xaaaaaaaaaaaaaaaa, R8

block:
	VMOVDQU   (SI)(DI*1), Y0
	VPCMPEQB  Y0, Y14, Y1
	VPCMPEQB  Y0, Y13, Y2
	VPMINUB   Y0, Y12, Y3
	VPCMPEQB  Y0, Y3, Y3
	VPOR      Y1, Y2, Y4
	VPOR      Y0, Y3, Y5
	VPOR      Y4, Y5, Y4
	VPMOVMSKB Y4, AX
	TESTL     AX, AX
	JNZ       special
	ADDQ      $32, DI
	CMPQ      DI, DX
	JLE       block
	JMP       done

special:
	VPMOVMSKB Y1, AX
	VPMOVMSKB Y2, BX
	VPMOVMSKB Y3, CX
	MOVQ      $0x100000000, R11 // behind the block

	// Every second backslash of a row is escaped: R13 gets what is.
	LEAQ (BX)(BX*1), R13
	ORQ  R8, R13
	SUBQ BX, R13
	XORQ R8, R13
	MOVQ R13, R12
	ANDQ BX, R12
	XORQ BX, R13
	SHRQ $31, R12        // a backslash whose escape the next block ends
	SHLQ $31, R12
	ORQ  R12, R11
	MOVQ R13, R12
	NOTQ R12
	ANDQ R12, AX         // escaped quotes end nothing

	// An escape that is none of two bytes is left to the caller.
	VBROADCASTI128 escapeLow<>(SB), Y6
	VBROADCASTI128 escapeHigh<>(SB), Y7
	VPAND     Y0, Y11, Y4
	VPSHUFB   Y4, Y6, Y6
	VPSRLW    $4, Y0, Y4
	VPAND     Y4, Y11, Y4
	VPSHUFB   Y4, Y7, Y7
	VPAND     Y6, Y7, Y6
	VPCMPEQB  Y6, Y15, Y6
	VPMOVMSKB Y6, R12
	ANDQ      R13, R12
	SHRQ      $1, R12
	ORQ       R12, AX

	ORQ CX, AX

	VMOVDQU      -1(SI)(DI*1), Y1
	VMOVDQU      -2(SI)(DI*1), Y2
	VMOVDQU      -3(SI)(DI*1), Y3
	VPSRLW       $4, Y1, Y4
	VPAND        Y4, Y11, Y4
	VPSHUFB      Y4, Y10, Y4
	VPAND        Y1, Y11, Y1
	VPSHUFB      Y1, Y9, Y1
	VPAND        Y1, Y4, Y4
	VPSRLW       $4, Y0, Y5
	VPAND        Y5, Y11, Y5
	VPSHUFB      Y5, Y8, Y5
	VPAND        Y5, Y4, Y4
	VPSUBUSB     third<>(SB), Y2, Y2// what began two bytes before
	VPSUBUSB     fourth<>(SB), Y3, Y3// what began three bytes before
	VPOR         Y2, Y3, Y2
	VPAND        top<>(SB), Y2, Y2
	VPXOR        Y2, Y4, Y4
	VPCMPEQB     Y4, Y15, Y4
	VPMOVMSKB    Y4, R10
	VPSUBUSB     lastBytes<>(SB), Y0, Y5
	VPCMPEQB     Y5, Y15, Y5
	VPMOVMSKB    Y5, R12
	NOTL         R12
	ORQ          R12, R11
	NOTL         R10
	TESTL        R10, R10
	JZ           advance
	MOVQ         AX, R12
	ORQ          R11, R12
	TZCNTQ       R12, R12
	TZCNTQ       R10, R10
	CMPQ         R10, R12
	JLE          done                // the block has what is no character

advance:
	ORQ    AX, R11
	TZCNTQ R11, R11
	ADDQ   R11, DI
	BTQ    R11, AX
	JCS    done
	CMPQ   DI, DX
	JLE    block

done:
	VZEROUPPER
	MOVQ DI, ret+24(FP)
	RET
