// Package pyyaml writes JSON values as the YAML text that Python's PyYAML 6
// gives for them, byte for byte:
//
//	yaml.dump(json.loads(raw), default_flow_style=False, sort_keys=False)
//
// The rules are the rules of its pure Python emitter with its defaults: block style, two
// columns per level, lines folded at 80 columns, ASCII only, and strings quoted when YAML
// 1.1 would read them as something else. Anchors and tags cannot arise: JSON values are
// never shared and always have a plain type.
package pyyaml

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Append appends the YAML text of raw to dst and ends it with a line break. raw is one
// JSON value that [pyjson.Check] accepted; of members with the same key the last value is
// at the place of the first, as in a Python dict. Lone surrogates become escapes such as
// \uD800. Values nested deeper than 330 containers are refused as they are in Python, and
// dst is returned as it was.
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

const (
	width = 80 // a space beyond this column may become a line break
	step  = 2  // columns per level

	// maxDepth is the greatest depth of lists and dicts in a dump before the recursion
	// limit of Python 3.11 stops it.
	maxDepth = 330
)

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

// value writes raw at the current place. Further lines start at column indent; only the
// value of the whole document has 0 there.
func (w *writer) value(raw []byte, indent int) error {
	if !isBlock(raw) {
		return w.leaf(raw, max(indent, step))
	}
	if w.depth == maxDepth {
		return fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	w.depth++
	defer func() { w.depth-- }()
	if pyjson.KindOf(raw) == pyjson.Array {
		return w.sequence(raw, indent)
	}
	return w.mapping(raw, indent)
}

func (w *writer) sequence(raw []byte, indent int) error {
	first := true
	for item := range pyjson.Elements(raw) {
		if !first {
			w.newline(indent)
		}
		first = false
		w.put("- ")
		if err := w.value(item, indent+step); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) mapping(raw []byte, indent int) error {
	for i, m := range members(raw) {
		if i > 0 {
			w.newline(indent)
		}
		if err := w.member(m, indent); err != nil {
			return err
		}
	}
	return nil
}

// member writes "key: value", or "? key" and ": value" on lines of their own
// for a key that cannot be a simple one. A sequence below a simple key is not
// indented.
func (w *writer) member(m member, indent int) error {
	if !isSimpleKey(m.key) {
		w.put("? ")
		w.text(m.key, indent+step)
		w.newline(indent)
		w.put(": ")
		return w.value(m.value, indent+step)
	}
	w.text(m.key, unfolded)
	if !isBlock(m.value) {
		w.put(": ")
		return w.value(m.value, indent+step)
	}
	w.put(":")
	if pyjson.KindOf(m.value) == pyjson.Object {
		indent += step
	}
	w.newline(indent)
	return w.value(m.value, indent)
}

// isBlock reports whether raw is a container that is written over lines: the
// empty ones are "[]" and "{}".
func isBlock(raw []byte) bool {
	switch pyjson.KindOf(raw) {
	case pyjson.Array, pyjson.Object:
		return len(raw) > 2 && len(pyjson.Trim(raw[1:len(raw)-1])) > 0
	}
	return false
}

// isSimpleKey reports whether a key may be written before its colon on one line: not
// empty, without line breaks, and shorter than 128 code points together with the five of
// the tag that is counted but not written.
func isSimpleKey(key string) bool {
	const limit = 128 - len("!!str")
	return key != "" && !hasBreak(key) && countRunes(key) < limit
}

// hasBreak reports whether s holds a line break of YAML 1.1: LF, NEL, LS or PS.
func hasBreak(s string) bool { return strings.ContainsAny(s, "\n\u0085\u2028\u2029") }

// countRunes counts code points as Python does: a lone surrogate is one.
func countRunes(s string) int {
	n := 0
	for i := range len(s) {
		if utf8.RuneStart(s[i]) {
			n++
		}
	}
	return n
}

type member struct {
	key   string // decoded, lone surrogates in WTF-8
	value []byte
}

// members returns the members of obj as a Python dict keeps them: each key
// once, in the place of its first and with the value of its last appearance.
func members(obj []byte) []member {
	var list []member
	seen := make(map[string]int)
	for m := range pyjson.Members(obj) {
		key := decoded(m.Key)
		if at, ok := seen[key]; ok {
			list[at].value = m.Value
			continue
		}
		seen[key] = len(list)
		list = append(list, member{key, m.Value})
	}
	return list
}
