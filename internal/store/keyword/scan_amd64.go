package keyword

import "golang.org/x/sys/cpu"

// hasBlocks tells whether this processor can go over blocks.
var hasBlocks = cpu.X86.HasAVX2 && cpu.X86.HasBMI1

const (
	vectorSize = 32
	before     = 3 // bytes before a block that must be there to tell whether it is UTF-8
)

// indexPair looks at the blocks from b[i] on, of which none begins behind
// b[last], for a pair as packed by [Pair]; b goes on for distance bytes behind
// the last block. It returns the first place of the pair, or where the first
// block would begin that it must not look at.
//
//go:noescape
func indexPair(b *byte, i, last, distance int, pair uint32) int

// validBlocks goes over the blocks from b[i] on, where a character begins, for
// as long as they are UTF-8 and none begins behind b[last]. It returns where
// the next block begins; the character that goes on there may be wrong. At least
// three bytes must be before b[i].
//
//go:noescape
func validBlocks(b *byte, i, last int) int
