package decimal

import (
	"errors"
	"slices"
	"strings"
)

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
