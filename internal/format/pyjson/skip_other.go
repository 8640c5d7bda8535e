//go:build !amd64

package pyjson

// hasBlocks and hasEnds are false: the functions below do not exist for this kind of
// processor.
const (
	hasBlocks = false
	hasEnds   = false
)

func skipBlocks(_ *byte, i, _ int) int { return i }
func quoteIn(_ *byte, _, n int) int    { return n }
func closeIn(_ *byte, _, n int) int    { return n }
