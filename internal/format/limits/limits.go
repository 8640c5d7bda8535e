// Package limits bounds the size of files and lines that are read into memory as a whole,
// and the length of names in errors and of text that is shown.
//
// A program of 32 bits has at most 4 GB of addresses: a file that does not fit
// would end it ("makeslice: len out of range", "out of memory"), and nothing can
// recover from that. So everything that reads a whole file, or a whole line,
// calls [Check] first.
package limits

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Max is the size of the largest file, and of the longest line, that is read as
// a whole: 256 MiB where an int has 32 bits, else 64 GiB.
const Max int64 = 256 << 20 << (8 * (^uint(0) >> 63))

// ErrTooLarge is returned for a file that is too large for the memory of this program.
// This is no damage: a program of 64 bits reads it.
var ErrTooLarge = errors.New("too large to be read as a whole by this program")

// Check returns an error when size bytes are too many. The error Is [ErrTooLarge].
func Check(size int64) error {
	if size <= Max {
		return nil
	}
	return fmt.Errorf("%w: it has %d bytes, the most is %d", ErrTooLarge, size, Max)
}

// ReadAll is [io.ReadAll] of at most [Max] bytes.
func ReadAll(r io.Reader) ([]byte, error) { return readAll(r, Max) }

func readAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, most)
	}
	return data, err
}

// Errorf returns an error that Is kind and has a text of its own: the errors of package
// fs speak of files.
func Errorf(kind error, format string, args ...any) error {
	return &kindError{fmt.Sprintf(format, args...), kind}
}

type kindError struct {
	text string
	kind error
}

func (e *kindError) Error() string { return e.text }
func (e *kindError) Unwrap() error { return e.kind }

// Reference returns an error that Is kind, nil for none, and whose whole text is the text
// of the Python reference, without a prefix.
func Reference(kind error, text string) error { return &referenceError{kindError{text, kind}} }

// IsReference reports whether err is one of [Reference].
func IsReference(err error) bool {
	_, is := err.(*referenceError)
	return is
}

type referenceError struct{ kindError }

// idBytes is the most bytes of an id that an error shows, and pathBytes of a path.
const (
	idBytes   = 64
	pathBytes = 4096
)

// ID returns id, or the first 64 bytes of a longer one and an ellipsis. A
// character is not cut in two.
func ID(id string) string { return first(id, idBytes) }

// Path is ID for the path of a file, with a larger limit.
func Path(path string) string { return first(path, pathBytes) }

func first(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return Cut(text, n) + "…" // a text of its own, which does not keep text in memory
}

// Cut returns at most the first n bytes of a text. A character is not cut in two.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for end := n; end >= 0 && end > n-utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return text[:end]
		}
	}
	return text[:n] // no UTF-8
}

// Whole returns text without the character at its end that needs further bytes.
func Whole(text string) string {
	for n := len(text) - 1; n >= 0 && n > len(text)-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) && !utf8.FullRuneInString(text[n:]) {
			return text[:n]
		}
	}
	return text
}

// Runes returns at most the first n characters of a text.
func Runes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// Bytes returns a number of bytes in a form for people, such as 1.5 kB.
func Bytes(n int) string {
	const kilo = 1000
	switch {
	case n < kilo:
		return fmt.Sprintf("%d B", n)
	case n < kilo*kilo:
		return fmt.Sprintf("%.1f kB", float64(n)/kilo)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/kilo/kilo)
}
