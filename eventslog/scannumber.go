package eventslog

import "github.com/amplifier-go/sessionstorage/internal/pyjson"

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
