//go:build !amd64

package keyword

// Without the assembly, blocks are never used.
const (
	hasBlocks  = false
	vectorSize = 32
	before     = 3
)

func indexPair(*byte, int, int, int, uint32) int { return 0 }

func validBlocks(*byte, int, int) int { return 0 }
