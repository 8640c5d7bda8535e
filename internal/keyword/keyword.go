package keyword

import "unicode/utf8"

// Keyword is a text to look for. It is safe for concurrent use.
type Keyword struct {
	lower  []byte
	filter filter
	valid  bool // it is UTF-8, as every row is; else no row holds it
}

// New returns the keyword of a text. Every row holds the empty one.
func New(text string) *Keyword {
	lower := appendLower(nil, []byte(text))
	return &Keyword{lower, newFilter(string(lower)), utf8.Valid(lower)}
}
