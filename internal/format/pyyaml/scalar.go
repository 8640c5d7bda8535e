package pyyaml

import (
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// unfolded, in the place of an indentation, keeps a text on one line.
const unfolded = -1

// leaf writes a scalar or an empty container.
func (w *writer) leaf(raw []byte, indent int) error {
	switch pyjson.KindOf(raw) {
	case pyjson.String:
		w.text(decoded(raw), indent)
		return nil
	case pyjson.Array:
		w.put("[]")
		return nil
	case pyjson.Object:
		w.put("{}")
		return nil
	}
	python, err := pyjson.Append(nil, raw, pyjson.Style{})
	if err != nil {
		return err
	}
	w.put(literal(string(python)))
	return nil
}

// literal turns Python's JSON text of a number, a bool or null into YAML. Only
// floats differ: those that are not finite, and exponents, which need a dot
// before them.
func literal(s string) string {
	switch s {
	case "NaN":
		return ".nan"
	case "Infinity":
		return ".inf"
	case "-Infinity":
		return "-.inf"
	}
	digits, exponent, _ := strings.Cut(s, "e")
	if exponent == "" || strings.Contains(digits, ".") {
		return s // true and false end in their e
	}
	return digits + ".0e" + exponent
}

// text writes s in the style it needs. A long line goes on at column indent.
func (w *writer) text(s string, indent int) {
	switch styleOf(s) {
	case plain:
		w.words(s, indent)
	case single:
		w.put("'")
		w.words(strings.ReplaceAll(s, "'", "''"), indent)
		w.put("'")
	case double:
		w.put(`"`)
		w.escaped(s, indent)
		w.put(`"`)
	}
}

// words writes printable text. A single space beyond the width becomes a line
// break, and a run of line breaks gets one more.
func (w *writer) words(s string, indent int) {
	for i := range len(s) {
		switch {
		case s[i] == '\n':
			if !strings.HasSuffix(s[:i], "\n") {
				w.newline(0)
			}
			if strings.HasPrefix(s[i+1:], "\n") {
				w.newline(0)
			} else {
				w.newline(indent)
			}
		case isGap(s, i) && w.folds(indent, w.column()):
			w.newline(indent)
		default:
			w.out = append(w.out, s[i])
		}
	}
}

// isGap reports whether s[i] is a space between two bytes that are none.
func isGap(s string, i int) bool {
	return s[i] == ' ' && 0 < i && i+1 < len(s) && s[i-1] != ' ' && s[i+1] != ' '
}

// escaped writes any text as printable ASCII. A line beyond the width is
// folded before a space and on both sides of an escape, but neither before the
// first nor at the last character.
func (w *writer) escaped(s string, indent int) {
	afterEscape := false
	for i := 0; i < len(s); {
		r, size := decodeRune(s[i:])
		next := i + size
		inside := 0 < i && next < len(s)
		bare := isBare(r)
		if bare {
			if inside && (r == ' ' || afterEscape) && w.folds(indent, w.column()) {
				w.fold(s[i:], indent)
			}
			w.out = append(w.out, byte(r))
		} else {
			w.out = appendEscape(w.out, r)
			if inside && w.folds(indent, w.column()-1) {
				w.fold(s[next:], indent)
			}
		}
		afterEscape = !bare
		i = next
	}
}

// folds reports whether a line that has reached column may be broken.
func (w *writer) folds(indent, column int) bool { return indent != unfolded && column > width }

// fold continues a double-quoted text with rest on a new line, where a leading
// space would be dropped by a reader if it were not escaped.
func (w *writer) fold(rest string, indent int) {
	w.put(`\`)
	w.newline(indent)
	if strings.HasPrefix(rest, " ") {
		w.put(`\`)
	}
}
