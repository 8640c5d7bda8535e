package pyyaml

import (
	"regexp"
	"strings"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

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
