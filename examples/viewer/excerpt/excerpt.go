// Package excerpt cuts what a search found out of a text.
package excerpt

import "unicode/utf8"

// maxFound is how many bytes of what was found are shown: an expression may find a
// whole text.
const maxFound = 500

// Of returns what was found at text[from:to], and what stands before and after it,
// of which it takes at most around bytes. It cuts no character. An ellipsis stands
// for what is left out of the text before and after.
func Of(text string, from, to, around int) (before, found, after string) {
	first, last := max(0, from-around), min(len(text), to+around)
	before, found, after = text[skip(text, first, from):from], text[from:to], text[to:back(text, to, last)]
	if to-from > maxFound {
		found = text[from:back(text, from, from+maxFound)]
	}
	if first > 0 {
		before = "…" + before
	}
	if last < len(text) {
		after += "…"
	}
	return before, found, after
}

// skip returns the first place from at on, but not after end, where a character
// begins.
func skip(text string, at, end int) int {
	for at < end && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// back returns the last place up to at, but not before begin, where a character
// begins or the text ends.
func back(text string, begin, at int) int {
	for at > begin && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
