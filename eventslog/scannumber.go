package eventslog

import "github.com/amplifier-go/sessionstorage/internal/pyjson"

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

func (s *scanner) beginNumber(c byte) {
	s.state, s.digits = inNumber, 1
	switch c {
	case '-':
		s.number, s.digits = minus, 0
	case '0':
		s.number = zero
	default:
		s.number = integer
	}
}

// digit reads on in a number. The byte that ends it is read again.
func (s *scanner) digit(p []byte, i int) int {
	c := p[i]
	next, ok := s.number.after(c)
	switch {
	case ok:
		s.number = next
		if next == integer || next == zero {
			s.digits++
		} else {
			s.float()
		}
		s.keep(c)
		return i + 1
	case s.number == minus && c == 'I' && !s.newer:
		s.state, s.literal = inLiteral, "nfinity"
		s.float()
		s.keep(c)
		return i + 1
	case !s.number.complete() || s.digits > pyjson.MaxDigits && s.number <= integer:
		s.state = bad
	default:
		s.finish(s.at + int64(i))
	}
	return i
}

// float notes that the number is none of the integers.
func (s *scanner) float() {
	if v := s.target(); v != nil {
		v.kind = pyjson.Float
	}
}

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
