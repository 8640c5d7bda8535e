// Package excerpt cuts a match, and the text around it, out of a text.
package excerpt

import "unicode/utf8"

// maxFound limits the bytes of a match that are shown: an expression may match a whole
// text.
const maxFound = 500

// Of returns the match text[from:to], and the text before and after it, at most around
// bytes of each. It cuts no character. It writes an ellipsis where it leaves out text
// before or after; the end of a match longer than maxFound is cut without one.
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
