// Package show makes the texts of errors.
package show

import (
	"fmt"
	"unicode/utf8"
)

// Errorf returns an error that Is kind and has a text of its own: those of package fs
// speak of files.
func Errorf(kind error, format string, args ...any) error {
	return &kindError{fmt.Sprintf(format, args...), kind}
}

type kindError struct {
	text string
	kind error
}

func (e *kindError) Error() string { return e.text }
func (e *kindError) Unwrap() error { return e.kind }

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
