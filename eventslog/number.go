package eventslog

// numberState is what was read of a number.
type numberState uint8

const (
	minus numberState = iota
	zero
	integer
	dot
	fraction
	exponent
	exponentSign
	exponentDigits
)

// after returns the state after the byte c, and false if c cannot follow.
func (n numberState) after(c byte) (numberState, bool) {
	switch isDigit := '0' <= c && c <= '9'; {
	case n == minus && c == '0':
		return zero, true
	case isDigit && n == zero:
		return n, false
	case isDigit && n <= integer:
		return integer, true
	case isDigit && n <= fraction:
		return fraction, true
	case isDigit:
		return exponentDigits, true
	case c == '.' && (n == zero || n == integer):
		return dot, true
	case (c == 'e' || c == 'E') && (n == zero || n == integer || n == fraction):
		return exponent, true
	case (c == '+' || c == '-') && n == exponent:
		return exponentSign, true
	}
	return n, false
}

// complete reports whether a number may end here.
func (n numberState) complete() bool {
	return n == zero || n == integer || n == fraction || n == exponentDigits
}
