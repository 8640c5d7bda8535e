#include "textflag.h"

// func indexPair(b *byte, i, last, distance int, pair uint32) int
//
// Y0 to Y3 are two blocks, each with what stands at the distance behind it.
TEXT ·indexPair(SB), NOSPLIT, $0-48
	MOVQ b+0(FP), SI
	MOVQ i+8(FP), DI
	MOVQ last+16(FP), DX
	MOVQ distance+24(FP), BX
	ADDQ SI, BX
	MOVL pair+32(FP), AX

	VMOVD        AX, X12
	VPSRLD       $8, X12, X13
	VPSRLD       $16, X12, X14
	VPSRLD       $24, X12, X15
	VPBROADCASTB X12, Y12           // first
	VPBROADCASTB X13, Y13           // its fold
	VPBROADCASTB X14, Y14           // second
	VPBROADCASTB X15, Y15           // its fold
	LEAQ         -32(DX), R8        // the last index that two blocks can have

both:
	CMPQ      DI, R8
	JGT       single
	VPOR      (SI)(DI*1), Y13, Y0
	VPOR      (BX)(DI*1), Y15, Y1
	VPOR      32(SI)(DI*1), Y13, Y2
	VPOR      32(BX)(DI*1), Y15, Y3
	VPCMPEQB  Y0, Y12, Y0
	VPCMPEQB  Y1, Y14, Y1
	VPCMPEQB  Y2, Y12, Y2
	VPCMPEQB  Y3, Y14, Y3
	VPAND     Y0, Y1, Y0
	VPAND     Y2, Y3, Y2
	VPOR      Y0, Y2, Y1
	VPMOVMSKB Y1, CX
	TESTL     CX, CX
	JNZ       single
	ADDQ      $64, DI
	JMP       both

single:
	CMPQ      DI, DX
	JGT       done
	VPOR      (SI)(DI*1), Y13, Y0
	VPOR      (BX)(DI*1), Y15, Y1
	VPCMPEQB  Y0, Y12, Y0
	VPCMPEQB  Y1, Y14, Y1
	VPAND     Y0, Y1, Y0
	VPMOVMSKB Y0, CX
	TESTL     CX, CX
	JNZ       found
	ADDQ      $32, DI
	JMP       single

found:
	TZCNTL CX, CX
	ADDQ   CX, DI

done:
	VZEROUPPER
	MOVQ DI, ret+40(FP)
	RET

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

// The low half of a byte; the top bit, which stays in the first of three bytes
// less 0x60, and of four less 0x70.
DATA halves<>+0(SB)/8, $0x000000007060800f
GLOBL halves<>(SB), RODATA|NOPTR, $8

// func validBlocks(b *byte, i, last int) int
//
// Y0 is the block, Y1 to Y3 are what begins one to three bytes before it.
TEXT ·validBlocks(SB), NOSPLIT, $0-32
	MOVQ b+0(FP), SI
	MOVQ i+8(FP), DI
	MOVQ last+16(FP), DX

	VPBROADCASTB   halves<>+0(SB), Y11
	VPBROADCASTB   halves<>+1(SB), Y12
	VPBROADCASTB   halves<>+2(SB), Y13
	VPBROADCASTB   halves<>+3(SB), Y14
	VBROADCASTI128 utf8First<>(SB), Y10
	VBROADCASTI128 utf8Second<>(SB), Y9
	VBROADCASTI128 utf8Third<>(SB), Y8

block:
	CMPQ      DI, DX
	JGT       done
	VMOVDQU   (SI)(DI*1), Y0
	VMOVDQU   -3(SI)(DI*1), Y3
	VPOR      Y0, Y3, Y4
	VPMOVMSKB Y4, AX
	TESTL     AX, AX
	JNZ       begin
	ADDQ      $32, DI
	JMP       block

	// Where one block is wide more will be: they are not asked for a while,
	// since no processor foresees the answers.
begin:
	MOVQ $16, CX

wide:
	VMOVDQU  -1(SI)(DI*1), Y1
	VMOVDQU  -2(SI)(DI*1), Y2
	VPSRLW   $4, Y1, Y4
	VPAND    Y4, Y11, Y4
	VPSHUFB  Y4, Y10, Y4
	VPAND    Y1, Y11, Y1
	VPSHUFB  Y1, Y9, Y1
	VPAND    Y1, Y4, Y4
	VPSRLW   $4, Y0, Y5
	VPAND    Y5, Y11, Y5
	VPSHUFB  Y5, Y8, Y5
	VPAND    Y5, Y4, Y4
	VPSUBUSB Y13, Y2, Y2
	VPSUBUSB Y14, Y3, Y3
	VPOR     Y2, Y3, Y2
	VPAND    Y12, Y2, Y2
	VPXOR    Y2, Y4, Y4
	VPTEST   Y4, Y4
	JNZ      done
	ADDQ     $32, DI
	DECQ     CX
	JZ       block
	CMPQ     DI, DX
	JGT      done
	VMOVDQU  (SI)(DI*1), Y0
	VMOVDQU  -3(SI)(DI*1), Y3
	JMP      wide

done:
	VZEROUPPER
	MOVQ DI, ret+24(FP)
	RET
