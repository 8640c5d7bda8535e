//go:build !amd64

package pyjson

// hasBlocks and hasEnds tell that the functions below are not there for this kind of processor.
const (
	hasBlocks = false
	hasEnds   = false
)

func skipBlocks(_ *byte, i, _ int) int { return i }
func quoteIn(_ *byte, _, n int) int    { return n }
func closeIn(_ *byte, _, n int) int    { return n }
