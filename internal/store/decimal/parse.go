package decimal

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// The exponents that Python's decimal module holds without rounding, of the
// first digit and of the last.
const (
	maxTop = 999_999_999_999_999_999
	minExp = -2*maxTop + 1
)

// FromJSON returns the number of a JSON value: a number, which is read as Python shows
// it, or a text. It returns false for any other value and for a text or number that is
// negative, infinite or no number.
func FromJSON(raw []byte) (Number, bool) {
	switch pyjson.KindOf(raw) {
	case pyjson.String:
		return Parse(string(pyjson.AppendText(nil, raw)))
	case pyjson.Integer, pyjson.Float:
		text, err := pyjson.Append(nil, raw, pyjson.Style{})
		if err != nil {
			return Number{}, false
		}
		return Parse(string(text))
	}
	return Number{}, false
}

// Parse reads a text as Python's Decimal does: space around it and underscores in it do
// not count, and digits may be of any script. It returns false for a text that is
// negative, infinite or no number.
func Parse(text string) (Number, bool) {
	text, ok := plain(string(pyjson.TrimSpace([]byte(text))))
	if !ok {
		return Number{}, false
	}
	minus := strings.HasPrefix(text, "-")
	if minus || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	mantissa, power := text, ""
	if i := strings.IndexByte(text, 'e'); i >= 0 {
		mantissa, power = text[:i], text[i+1:]
		if !isInteger(power) {
			return Number{}, false
		}
	}
	whole, part, _ := strings.Cut(mantissa, ".")
	digits := whole + part
	if digits == "" || !isDigits(digits) {
		return Number{}, false
	}
	n := Number{digits: strings.TrimLeft(digits, "0"), exp: exponent(power) - int64(len(part)), minus: minus}
	if n.top() > maxTop || n.exp < minExp || minus && !n.IsZero() {
		return Number{}, false
	}
	return n, true
}

// plain returns text in ASCII, in small letters and without underscores. It
// returns false if there is a character that no number has.
func plain(text string) (string, bool) {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '_':
		case r == 'E':
			b.WriteByte('e')
		case r < utf8.RuneSelf:
			b.WriteByte(text[i])
		default:
			digit, ok := digitOf(r)
			if !ok {
				return "", false
			}
			b.WriteByte('0' + digit)
		}
	}
	return b.String(), true
}

// digitOf returns the value of a decimal digit of any script. Unicode orders digits in
// tens, from zero to nine.
func digitOf(r rune) (byte, bool) {
	for _, span := range unicode.Nd.R16 {
		if rune(span.Lo) <= r && r <= rune(span.Hi) {
			return byte((r - rune(span.Lo)) % 10), true
		}
	}
	for _, span := range unicode.Nd.R32 {
		if rune(span.Lo) <= r && r <= rune(span.Hi) {
			return byte((r - rune(span.Lo)) % 10), true
		}
	}
	return 0, false
}

func isDigits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

// isInteger reports whether text is digits, with a sign or without.
func isInteger(text string) bool {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	return text != "" && isDigits(text)
}

// largest is more than any exponent that is allowed.
const largest = math.MaxInt64 / 2

// exponent returns the integer in text, limited to largest in both directions.
func exponent(text string) int64 {
	minus := strings.HasPrefix(text, "-")
	n := int64(0)
	for _, c := range strings.TrimLeft(text, "+-") {
		if n > largest/10-1 {
			n = largest
			break
		}
		n = 10*n + int64(c-'0')
	}
	if minus {
		return -n
	}
	return n
}
