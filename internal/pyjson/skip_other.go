//go:build !amd64

package pyjson

// hasBlocks tells that there is no skipBlocks for this kind of processor.
const hasBlocks = false

func skipBlocks(_ *byte, i, _ int) int { return i }
