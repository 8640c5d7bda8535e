//go:build !amd64

package keyword

// Where nothing is known of blocks, none are asked for.
const (
	hasBlocks  = false
	vectorSize = 32
	before     = 3
)

func indexPair(*byte, int, int, int, uint32) int { return 0 }

func validBlocks(*byte, int, int) int { return 0 }
