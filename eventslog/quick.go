package eventslog

import "github.com/amplifier-go/sessionstorage/internal/pyjson"

// quick reads whole tokens inside the object from p[i] on and returns where
// the first begins that it leaves to [scanner.step]: one that may go on behind
// p, or that may be wrong. It decides nothing that step would not.
func (s *scanner) quick(p []byte, i int) int {
	for {
		end := i
		switch s.state {
		case firstKey, nextKey:
			end = s.quickKey(p, i)
		case valueState, firstElement:
			end = s.quickValue(p, i)
		case afterValue:
			end = s.quickEnd(p, i)
		}
		if end == i {
			return i
		}
		i = end
	}
}

// quickKey reads a key and its colon.
func (s *scanner) quickKey(p []byte, i int) int {
	key := afterSpace(p, i)
	if key == len(p) || p[key] != '"' {
		return i
	}
	end := pyjson.SkipString(p, key+1)
	if end < 0 || end == len(p) || p[end] != ':' {
		return i
	}
	if s.looking() {
		s.key = append(s.key[:0], p[key:min(end, key+maxKey)]...)
		s.named()
	}
	s.state = valueState
	return end + 1
}

// afterSpace returns the index behind the white space at p[i], of which there
// is seldom more than one.
func afterSpace(p []byte, i int) int {
	for i < len(p) && isSpace(p[i]) {
		i++
	}
	return i
}

// quickValue reads a scalar or the opening of a container.
func (s *scanner) quickValue(p []byte, i int) int {
	at := afterSpace(p, i)
	if at == len(p) {
		return i
	}
	end, kind := 0, pyjson.String
	switch c := p[at]; {
	case c == '"':
		end = pyjson.SkipString(p, at+1)
	case c == '{' || c == '[':
		if s.depth == pyjson.MaxDepth {
			return i
		}
		s.begin(c, s.at+int64(at))
		return at + 1
	case '1' <= c && c <= '9':
		kind, end = quickNumber(p, at)
	default:
		kind, end = quickWord(p, at)
	}
	if end <= 0 {
		return i
	}
	s.state = afterValue
	if v := s.target(); v != nil {
		s.found(kind, s.at+int64(at), true)
		s.keepAll(p[at:end])
		s.finish(s.at + int64(end))
	}
	return end
}

// quickEnd reads what follows a value.
func (s *scanner) quickEnd(p []byte, i int) int {
	for ; i < len(p); i++ {
		object := s.inObject()
		switch c := p[i]; {
		case c == ',' && object:
			s.state = nextKey
			return i + 1
		case c == ',':
			s.state = valueState
			return i + 1
		case c == '}' && object, c == ']' && !object:
			s.leave(s.at+int64(i), false)
			if s.depth == 0 {
				return i + 1
			}
		default:
			return i
		}
	}
	return i
}

// quickNumber reads a number without an exponent. The end is 0 when it is
// left to step.
func quickNumber(p []byte, i int) (kind pyjson.Kind, end int) {
	kind, end = pyjson.Integer, afterDigits(p, i)
	if end-i > pyjson.MaxDigits {
		return kind, 0
	}
	if end < len(p) && p[end] == '.' {
		dot := end
		if kind, end = pyjson.Float, afterDigits(p, dot+1); end == dot+1 {
			return kind, 0
		}
	}
	if end == len(p) || p[end]|0x20 == 'e' || p[end] == '.' {
		return kind, 0
	}
	return kind, end
}

func afterDigits(p []byte, i int) int {
	for i < len(p) && p[i]-'0' <= 9 {
		i++
	}
	return i
}

// quickWord reads a literal. The end is 0 when it is left to step.
func quickWord(p []byte, i int) (kind pyjson.Kind, end int) {
	word := ""
	switch p[i] {
	case 't':
		word, kind = "true", pyjson.True
	case 'f':
		word, kind = "false", pyjson.False
	case 'n':
		word, kind = "null", pyjson.Null
	}
	if end = i + len(word); end == i || end > len(p) || string(p[i:end]) != word {
		return kind, 0
	}
	return kind, end
}
