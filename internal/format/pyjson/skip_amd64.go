package pyjson

import "golang.org/x/sys/cpu"

// hasBlocks reports whether this processor can run skipBlocks.
var hasBlocks = cpu.X86.HasAVX2 && cpu.X86.HasBMI1

// skipBlocks goes over text of a string from b[i] on, where a character or an escape
// begins, in blocks of 32 bytes. It returns an index of such a place up to which
// [SkipString] accepts all bytes: it stops before a quote, an escape \u, which it does
// not know, or a fault, and where less than a block is left of the n bytes of b. At least
// three bytes must be before b[i].
//
//go:noescape
func skipBlocks(b *byte, i, n int) int

// hasEnds reports whether this processor can run quoteIn and closeIn.
var hasEnds = hasBlocks && cpu.X86.HasPCLMULQDQ && cpu.X86.HasPOPCNT

// quoteIn returns the index behind the quote that ends the string whose
// content begins at or before b[i], where a character or an escape begins; n,
// the length of b and at least 64, where none does.
//
//go:noescape
func quoteIn(b *byte, i, n int) int

// closeIn returns the index behind the container that begins at b[i]; n, the
// length of b and at least 64, where it does not end.
//
//go:noescape
func closeIn(b *byte, i, n int) int
