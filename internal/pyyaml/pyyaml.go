// Package pyyaml writes JSON values as the YAML text that Python's PyYAML 6
// gives for them, byte for byte:
//
//	yaml.dump(json.loads(raw), default_flow_style=False, sort_keys=False)
//
// The rules are those of its pure Python emitter with its defaults: block
// style, two columns per level, lines folded at 80 columns, ASCII only, and
// strings quoted when YAML 1.1 would read them as something else. Anchors
// and tags cannot arise: JSON values are never shared and always have a plain
// type.
package pyyaml

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

const (
	width = 80 // a space beyond this column may become a line break
	step  = 2  // columns per level

	// maxDepth is how deep Python 3.11 can nest lists and dicts in a dump
	// before its recursion limit stops it.
	maxDepth = 330
)

// Append appends the YAML text of raw to dst and ends it with a line break.
// raw is one JSON value that [pyjson.Check] accepted; of members with the same
// key the last value stands in the place of the first, as in a Python dict.
// Lone surrogates become escapes such as \uD800. Values nested deeper than 330
// containers are refused as they are in Python, and dst is returned as it was.
func Append(dst, raw []byte) ([]byte, error) {
	raw = pyjson.Trim(raw)
	w := writer{out: dst, line: len(dst)}
	if err := w.value(raw, 0); err != nil {
		return dst, fmt.Errorf("write yaml: %w", err)
	}
	w.newline(0)
	if isPlain(raw) {
		w.put("...\n") // a plain scalar leaves the document open
	}
	return w.out, nil
}

// writer builds the text. Everything it writes is ASCII, so that columns are
// bytes since the start of the line.
type writer struct {
	out   []byte
	line  int // where the current line starts in out
	depth int // containers around the current place
}

func (w *writer) put(s string) { w.out = append(w.out, s...) }

func (w *writer) column() int { return len(w.out) - w.line }

// newline ends the line and begins one at column indent.
func (w *writer) newline(indent int) {
	w.out = append(w.out, '\n')
	w.line = len(w.out)
	for range indent {
		w.out = append(w.out, ' ')
	}
}
