package pyjson

// node is one value or key of a scanned text. Nodes stand in the order of the text: a container, then its content,
// where the members of an object take a node for the key and one or more for the value.
type node struct {
	at, end int // its bytes
	next    int // index of the node behind it and its content; while it is open, of the container around it
	flags   flags
}

// flags says what is in a string.
type flags uint8

const (
	escaped   flags = 1 << iota // a backslash
	wide                        // characters beyond ASCII
	separator                   // U+0085, U+2028 or U+2029 unescaped
	surrogate                   // a surrogate as bytes
)

// addNode notes a scalar or key that begins at the next byte and moves behind it.
func (s *scanner) addNode(end int, f flags) {
	if s.recording {
		s.nodes = append(s.nodes, node{at: s.i, end: end, next: len(s.nodes) + 1, flags: f})
	}
	s.i = end
}

// pushNode notes a container that begins at the next byte.
func (s *scanner) pushNode() {
	if s.recording {
		s.nodes = append(s.nodes, node{at: s.i, next: s.open})
		s.open = len(s.nodes) - 1
	}
}

// popNode notes that the innermost container ended before the next byte.
func (s *scanner) popNode() {
	if s.recording {
		n := &s.nodes[s.open]
		s.open = n.next
		n.end, n.next = s.i, len(s.nodes)
	}
}
