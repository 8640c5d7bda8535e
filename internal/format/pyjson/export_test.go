package pyjson

// SkipText returns an index of b up to which the bytes from i on are text of a string: i
// where the processor reads no blocks.
func SkipText(b []byte, i int) int {
	if !hasBlocks || i < 3 {
		return i
	}
	return skipBlocks(&b[0], i, len(b))
}
