package pyjson

// scanner reads one value. It stops at the first error.
type scanner struct {
	b       []byte
	i       int // the next byte
	dialect Dialect
	problem problem
	failed  int // where the problem is

	depth   int
	closer  byte                         // what closes the innermost container
	objects [(MaxDepth + 64) / 64]uint64 // bit d: the container that d others are around is an object

	tape *tape // records what is read, unless nil

	spans *[]Span // gets the members of the outermost object, unless nil
	span  Span    // the one that is read; zero outside of one
}

func (s *scanner) fail(at int, p problem) { s.failed, s.problem = at, p }

func (s *scanner) space() {
	if s.i < len(s.b) && s.b[s.i] <= ' ' {
		s.i = skipSpace(s.b, s.i)
	}
}

// isNext reports whether c is the next byte.
func (s *scanner) isNext(c byte) bool { return s.i < len(s.b) && s.b[s.i] == c }

// literal reads the word that is expected at the next byte.
func (s *scanner) literal(word string) {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		s.fail(s.i, valueExpected)
		return
	}
	s.add(s.i+len(word), 0)
}

// add records the scalar or key that ends at the offset end and moves there.
func (s *scanner) add(end int, f flags) {
	s.tape.scalar(s.i, end, f)
	s.i = end
}
