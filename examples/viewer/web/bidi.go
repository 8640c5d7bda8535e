package web

import (
	"fmt"
	"strings"
)

// bidiControls are the characters that change the direction of the text after
// them: all of Unicode with the property Bidi_Control.
const bidiControls = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

// showBidi writes the code of each character that changes the direction of text
// in its place, as [U+202E]. A name such as "gpj.exe" with an override before it
// would read as another one. Every page and every answer to a script goes
// through it; downloads and stored lines keep their bytes.
var showBidi = newBidiReplacer()

func newBidiReplacer() *strings.Replacer {
	var pairs []string
	for _, r := range bidiControls {
		pairs = append(pairs, string(r), fmt.Sprintf("[U+%04X]", r))
	}
	return strings.NewReplacer(pairs...)
}
