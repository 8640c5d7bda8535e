// Package show makes what callers give fit into the texts of errors.
package show

import (
	"unicode/utf8"
)

// idBytes is how much of an id an error shows, and pathBytes how much of a path.
const (
	idBytes   = 64
	pathBytes = 4096
)

// ID returns id, or the first 64 bytes of a longer one and an ellipsis. A
// character is not cut in two.
func ID(id string) string { return first(id, idBytes) }

// Path is ID for the path of a file, of which longer ones are in use.
func Path(path string) string { return first(path, pathBytes) }

func first(text string, n int) string {
	if len(text) <= n {
		return text
	}
	end := n
	for end > n-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	if !utf8.RuneStart(text[end]) { // no UTF-8
		end = n
	}
	return text[:end] + "…" // a text of its own, which does not keep the whole
}
