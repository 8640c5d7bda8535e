package decimal

import (
	"strconv"
	"strings"
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
