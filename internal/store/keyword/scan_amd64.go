package keyword

import "golang.org/x/sys/cpu"

// hasBlocks reports whether this processor can scan blocks.
var hasBlocks = cpu.X86.HasAVX2 && cpu.X86.HasBMI1

const (
	vectorSize = 32
	before     = 3 // the bytes before a block that the check for UTF-8 needs
)

// indexPair searches the blocks from b[i] on, none of which begins behind b[last], for a
// pair as packed by [Pair]; b goes on for distance bytes behind the last block. It
// returns the first place of the pair, or the beginning of the first block that it must
// not read.
//
//go:noescape
func indexPair(b *byte, i, last, distance int, pair uint32) int

// validBlocks checks the blocks from b[i] on, where a character begins, for as long as
// they are UTF-8 and none begins behind b[last]. It returns the beginning of the next
// block; the character that goes on there may be wrong. At least three bytes must be
// before b[i].
//
//go:noescape
func validBlocks(b *byte, i, last int) int
