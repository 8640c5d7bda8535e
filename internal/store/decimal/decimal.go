package decimal

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Number is a finite decimal number that is not negative, except for the zero that is
// written -0. The zero Number is 0. Numbers of one value may have different texts, as 0.1
// and 0.10.
type Number struct {
	digits string // without leading zeros; empty for zero
	exp    int64  // of the last digit
	minus  bool   // it is -0
}

// IsZero reports whether the number is zero.
func (n Number) IsZero() bool { return n.digits == "" }

// length returns the number of digits that are written.
func (n Number) length() int { return max(len(n.digits), 1) }

// top returns the exponent of the first digit.
func (n Number) top() int64 { return n.exp + int64(n.length()) - 1 }

// Compare returns -1, 0 or 1 as n is less than, equal to or greater than other.
func (n Number) Compare(other Number) int {
	switch {
	case n.IsZero() || other.IsZero():
		return sign(len(n.digits) - len(other.digits))
	case n.top() != other.top():
		if n.top() < other.top() {
			return -1
		}
		return 1
	}
	return strings.Compare(strings.TrimRight(n.digits, "0"), strings.TrimRight(other.digits, "0"))
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// String returns the number as Python's str does.
func (n Number) String() string {
	digits := n.digits
	if digits == "" {
		digits = "0"
	}
	text := ""
	if n.minus {
		text = "-"
	}
	left := n.exp + int64(len(digits)) // digits before the point
	if n.exp > 0 || left <= -6 {
		return text + scientific(digits, left-1)
	}
	switch {
	case n.exp == 0:
		return text + digits
	case left <= 0:
		return text + "0." + strings.Repeat("0", int(-left)) + digits
	}
	return text + digits[:left] + "." + digits[left:]
}

// scientific writes digits with one of them before the point.
func scientific(digits string, exp int64) string {
	text := digits[:1]
	if len(digits) > 1 {
		text += "." + digits[1:]
	}
	text += "E"
	if exp >= 0 {
		text += "+"
	}
	return text + strconv.FormatInt(exp, 10)
}

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

// The default context of Python's decimal module.
const (
	precision = 28
	maxExp    = 999_999                // of the first digit
	topExp    = maxExp - precision + 1 // of the last digit of a number of full length
	tinyExp   = -maxExp - precision + 1
)

// ErrOverflow is returned when a sum is larger than Python's default context allows:
// its exponent is beyond 999,999.
var ErrOverflow = errors.New("cost has an exponent beyond 999999")

// Add returns the sum of two numbers, rounded to 28 digits. The error is
// [ErrOverflow].
func Add(a, b Number) (Number, error) {
	exp := min(a.exp, b.exp)
	switch {
	case a.IsZero() && b.IsZero():
		return round(Number{exp: exp, minus: a.minus && b.minus})
	case a.IsZero():
		return round(b.padded(max(exp, b.exp-precision-1)))
	case b.IsZero():
		return round(a.padded(max(exp, a.exp-precision-1)))
	}
	if a.exp < b.exp {
		a, b = b, a
	}
	// A b that is too small to show in the sum only decides how the sum is rounded.
	if least := a.exp + min(-1, int64(len(a.digits))-precision-2); b.top() < least {
		b = Number{digits: "1", exp: least}
	}
	a = a.padded(b.exp)
	return round(Number{digits: addDigits(a.digits, b.digits), exp: b.exp})
}

// padded returns the number with zeros up to the exponent exp, which is no
// larger than its own.
func (n Number) padded(exp int64) Number {
	if !n.IsZero() {
		n.digits += strings.Repeat("0", int(n.exp-exp))
	}
	n.exp, n.minus = exp, false
	return n
}

// addDigits returns the sum of two integers.
func addDigits(a, b string) string {
	if len(a) < len(b) {
		a, b = b, a
	}
	sum, carry := make([]byte, 0, len(a)+1), byte(0)
	for i := range len(a) {
		digit := a[len(a)-1-i] - '0' + carry
		if i < len(b) {
			digit += b[len(b)-1-i] - '0'
		}
		sum, carry = append(sum, '0'+digit%10), digit/10
	}
	if carry > 0 {
		sum = append(sum, '1')
	}
	slices.Reverse(sum)
	return string(sum)
}

// round returns the number with at most 28 digits, rounded half to even.
func round(n Number) (Number, error) {
	if n.IsZero() {
		n.exp = min(max(n.exp, tinyExp), maxExp)
		return n, nil
	}
	exp := n.exp + int64(len(n.digits)) - precision // of the last digit that may stay
	if exp > topExp {
		return Number{}, ErrOverflow
	}
	exp = max(exp, tinyExp)
	if n.exp >= exp {
		return n, nil
	}
	n = n.cut(exp)
	if len(n.digits) > precision { // of nines there became a one
		n.digits, n.exp = n.digits[:precision], n.exp+1
	}
	if n.exp > topExp {
		return Number{}, ErrOverflow
	}
	return n, nil
}

// cut returns the number without its digits below the exponent exp.
func (n Number) cut(exp int64) Number {
	keep := int64(len(n.digits)) - (exp - n.exp)
	if keep < 0 {
		return Number{exp: exp}
	}
	kept, rest := n.digits[:keep], n.digits[keep:]
	up := rest[0] > '5' || rest[0] == '5' && (strings.Trim(rest[1:], "0") != "" || kept != "" && (kept[keep-1]-'0')%2 == 1)
	if up {
		kept = strings.TrimLeft(addDigits(kept, "1"), "0")
	}
	return Number{digits: kept, exp: exp}
}
