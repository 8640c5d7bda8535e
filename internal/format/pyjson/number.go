package pyjson

import (
	"bytes"
)

// number reads the number that begins at the next byte; anything else there is not a value at all.
func (s *scanner) number() {
	b, i := s.b, s.i
	if b[i] == '-' {
		i++
	}
	if i < len(b) && (b[i] == 'N' || b[i] == 'I') {
		s.constant()
		return
	}
	digits := i
	i = skipDigits(b, i)
	switch {
	case i == digits:
		s.fail(s.i, valueExpected)
		return
	case b[digits] == '0':
		i = digits + 1
	}
	end := skipFloat(b, i)
	if end == i && i-digits > MaxDigits {
		s.fail(s.i, longInteger)
		return
	}
	s.add(end, 0)
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// skipFloat skips a fraction and an exponent. Either without digits is not part of the number.
func skipFloat(b []byte, i int) int {
	if i < len(b) && b[i] == '.' {
		end := skipDigits(b, i+1)
		if end == i+1 {
			return i
		}
		i = end
	}
	if i == len(b) || b[i]|0x20 != 'e' {
		return i
	}
	digits := i + 1
	if digits < len(b) && (b[digits] == '+' || b[digits] == '-') {
		digits++
	}
	if end := skipDigits(b, digits); end > digits {
		return end
	}
	return i
}

// constant reads NaN, Infinity or -Infinity.
func (s *scanner) constant() {
	for _, word := range [...]string{"NaN", "Infinity", "-Infinity"} {
		if !bytes.HasPrefix(s.b[s.i:], []byte(word)) {
			continue
		}
		if !s.dialect.constants() {
			s.fail(s.i, notFinite)
			return
		}
		s.add(s.i+len(word), 0)
		return
	}
	s.fail(s.i, valueExpected)
}
