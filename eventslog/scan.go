package eventslog

// feed reads the next piece of the line.
func (s *scanner) feed(p []byte) {
	if len(s.carry) > 0 {
		p = s.complete(p)
	}
	for i := 0; i < len(p) && s.state != bad; {
		if s.state >= firstKey && s.state <= afterValue {
			if i = s.quick(p, i); i == len(p) {
				break
			}
		}
		i = s.step(p, i)
	}
	s.at += int64(len(p))
}

// step reads from p[i] on, at least one byte, and returns where it stopped.
func (s *scanner) step(p []byte, i int) int {
	switch s.state {
	case inString:
		return s.text(p, i)
	case inNumber:
		return s.digit(p, i)
	case beforeObject, afterObject:
		return s.around(p, i)
	case inEscape, inHex:
		s.escape(p[i])
	case inLiteral:
		s.word(p[i], s.at+int64(i))
	default:
		if !isSpace(p[i]) {
			s.token(p[i], s.at+int64(i))
		}
	}
	return i + 1
}
