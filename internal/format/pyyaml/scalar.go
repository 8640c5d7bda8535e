package pyyaml

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

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

// style is the way in which a string is written.
type style uint8

const (
	plain  style = iota // as it is
	single              // in ', which is doubled inside
	double              // in ", with escapes
)

// styleOf chooses the first style of plain, single and double that can hold s.
func styleOf(s string) style {
	switch {
	case !isPrintable(s), strings.Contains(s, " \n"), strings.Contains(s, "\n "):
		return double
	case s == "", strings.Contains(s, "\n"), hasIndicator(s), resolves(s):
		return single
	}
	return plain
}

// isPlain reports whether raw is a scalar that is written without quotes.
func isPlain(raw []byte) bool {
	switch pyjson.KindOf(raw) {
	case pyjson.Array, pyjson.Object:
		return false
	case pyjson.String:
		return styleOf(decoded(raw)) == plain
	}
	return true
}

// isPrintable reports whether s holds nothing but printable ASCII and LF.
func isPrintable(s string) bool {
	for i := range len(s) {
		if (s[i] < ' ' || s[i] > '~') && s[i] != '\n' {
			return false
		}
	}
	return true
}

// hasIndicator reports whether a reader would take a part of s, one line of printable
// ASCII that is not empty, for structure when s is unquoted in a block.
func hasIndicator(s string) bool {
	if s[0] == ' ' || s[len(s)-1] == ' ' {
		return true
	}
	if strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		return true
	}
	if strings.IndexByte("#,[]{}&*!|>'\"%@`", s[0]) >= 0 {
		return true
	}
	if s == "-" || s == "?" || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "? ") {
		return true
	}
	return strings.HasSuffix(s, ":") || strings.Contains(s, ": ") || strings.Contains(s, " #")
}

// resolves reports whether YAML 1.1 as PyYAML implements it reads the unquoted
// s, one line of printable ASCII, as anything but a string.
func resolves(s string) bool {
	const starts = "-+.0123456789yYnNtTfFoO~<="
	return strings.IndexByte(starts, s[0]) >= 0 && implicit().MatchString(s)
}

// implicit matches the texts that mean a value of another type: bool, null, merge and
// value, int, float, timestamp. Floats need a dot and signed exponents; numbers may hold
// underscores and base 60 digits.
var implicit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + strings.Join([]string{
		`yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF`,
		`~|null|Null|NULL`,
		`<<|=`,

		`[-+]?0b[01_]+`,
		`[-+]?0[0-7_]+`,
		`[-+]?0x[0-9a-fA-F_]+`,
		`[-+]?(?:0|[1-9][0-9_]*)`,
		`[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+`,

		`[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?`,
		`\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?`,
		`[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*`,
		`[-+]?\.(?:inf|Inf|INF)`,
		`\.(?:nan|NaN|NAN)`,

		`[0-9]{4}-[0-9]{2}-[0-9]{2}`,
		`[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]| +)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?` +
			`(?: *(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?`,
	}, `|`) + `)$`)
})

// decoded returns the text of a JSON string, lone surrogates in WTF-8.
func decoded(raw []byte) string { return string(pyjson.AppendText(nil, raw)) }

// isBare reports whether r is written as itself in a double-quoted text.
func isBare(r rune) bool { return ' ' <= r && r <= '~' && r != '"' && r != '\\' }

// appendEscape appends the shortest of PyYAML's escapes for r: one of YAML's
// letters, or two, four or eight hexadecimal digits in upper case.
func appendEscape(dst []byte, r rune) []byte {
	if c := escapeLetter(r); c != 0 {
		return append(dst, '\\', c)
	}
	switch {
	case r <= 0xFF:
		return fmt.Appendf(dst, `\x%02X`, r)
	case r <= 0xFFFF:
		return fmt.Appendf(dst, `\u%04X`, r)
	}
	return fmt.Appendf(dst, `\U%08X`, r)
}

// escapeLetter returns the letter that names r after a backslash, or 0.
func escapeLetter(r rune) byte {
	switch r {
	case 0:
		return '0'
	case '\a':
		return 'a'
	case '\b':
		return 'b'
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\v':
		return 'v'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	case 0x1B:
		return 'e'
	case '"', '\\':
		return byte(r)
	case 0x85: // next line
		return 'N'
	case 0xA0: // no-break space
		return '_'
	case 0x2028: // line separator
		return 'L'
	case 0x2029: // paragraph separator
		return 'P'
	}
	return 0
}

// decodeRune is [utf8.DecodeRuneInString] that also knows the three bytes of a
// lone surrogate. s is not empty.
func decodeRune(s string) (r rune, size int) {
	r, size = utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 && isSurrogate(s) {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, size
}

// isSurrogate reports whether s starts with U+D800 to U+DFFF in WTF-8.
func isSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80
}
