package pyjson

import (
	"bytes"
	"iter"
)

// Member is one member of an object.
type Member struct {
	Key     []byte // with its quotes
	Value   []byte
	KeyAt   int // offset of Key in the object
	ValueAt int // offset of Value in the object
}

// Members returns the members of an object in their order, all of them when several have one name. The slices share
// obj's memory. A value that is not an object has no members.
func Members(obj []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		i := enter(obj, '{')
		for i < len(obj) && obj[i] == '"' {
			key, keyEnd := i, skipString(obj, i)
			i = skipSpace(obj, keyEnd)
			if i == len(obj) || obj[i] != ':' {
				return
			}
			value := skipSpace(obj, i+1)
			i = skipValue(obj, value)
			if i == value || !yield(Member{obj[key:keyEnd], obj[value:i], key, value}) {
				return
			}
			i = afterComma(obj, i)
		}
	}
}

// Elements returns the elements of an array in their order. The slices share arr's memory. A value that is not an array
// has no elements.
func Elements(arr []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := enter(arr, '[')
		for i < len(arr) {
			end := skipValue(arr, i)
			if end == i || !yield(arr[i:end]) {
				return
			}
			i = afterComma(arr, end)
		}
	}
}

// Lookup returns the value of the last member of obj that is called name. The value shares obj's memory.
func Lookup(obj []byte, name string) (value []byte, ok bool) {
	for m := range Members(obj) {
		if KeyIs(m.Key, name) {
			value, ok = m.Value, true
		}
	}
	return value, ok
}

// Values returns the values of the members of obj of those names, at most four of them:
// nil for a missing member, and of several of one name the last. It goes through obj
// once. The values share obj's memory.
func Values(obj []byte, names ...string) (values [4][]byte) {
	for m := range Members(obj) {
		m.among(names, &values)
	}
	return values
}

// First returns the value at the start of b without the rest.
func First(b []byte) []byte {
	end := skipValue(b, 0)
	return b[:end:end]
}

// KeyIs reports whether the key, a string with its quotes, is name.
func KeyIs(key []byte, name string) bool {
	text := inner(key)
	switch {
	case len(text) < len(name):
		return false // an escape is longer than its character
	case len(text) == len(name):
		return string(text) == name && bytes.IndexByte(text, '\\') < 0
	case bytes.IndexByte(text, '\\') < 0:
		return false
	}
	var buf [64]byte
	return string(AppendText(buf[:0], key)) == name
}

// MayHold reports whether a string with word, which has only plain letters, digits and
// punctuation, may be in raw. Only escapes \u could write it in another way.
func MayHold(raw []byte, word string) bool {
	return bytes.Contains(raw, []byte(word)) || bytes.Contains(raw, []byte(`\u`))
}

// among sets the entry of values for the member's name, if it is one of the names.
func (m *Member) among(names []string, values *[4][]byte) {
	for i, name := range names {
		if KeyIs(m.Key, name) {
			values[i] = m.Value
		}
	}
}

// scanner reads one value. It stops at the first error.
type scanner struct {
	b       []byte
	i       int // the next byte
	dialect Dialect
	problem problem
	failed  int // offset of the problem

	depth   int
	closer  byte                         // the byte that closes the innermost container
	objects [(MaxDepth + 64) / 64]uint64 // bit d: the container inside d others is an object

	tape *tape // records the nodes, unless nil

	spans *[]Span // gets the members of the outermost object, unless nil
	span  Span    // the present member; zero outside of a member
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

// Span is a member of an object as offsets.
type Span struct {
	Key, KeyEnd     int // with its quotes
	Value, ValueEnd int

	// Typed reports whether the value may hold an object in an array, with a type that is
	// neither text nor thinking.
	Typed bool
}

// node is one value or key of a scanned text. Nodes are in the order of the text: a
// container, then its content, where a member of an object takes one node for its key and
// one or more for its value.
type node struct {
	at, end int // its bytes

	// next is, of a key, the value to write with it, at first its own; of any other node, the node behind it and its
	// content; of a container that is still open, the container around it.
	next  int
	flags flags
}

// flags describe the content of a string, and for a key, the way to write its member.
type flags uint8

const (
	escaped   flags = 1 << iota // the string has a backslash
	wide                        // it has characters beyond ASCII
	separator                   // it has U+0085, U+2028 or U+2029 unescaped
	surrogate                   // it has a surrogate as bytes
	dropped                     // the member is not written
	renamed                     // it is written as thinking_text
	whole                       // its value is not sanitised
)

// tape holds the nodes of a text. The first are part of it, so that the tape of a small text can stay on the stack.
type tape struct {
	few  [128]node
	many []node // the nodes from len(few) on
	size int
	open int // the innermost open container
	text int // length of the text
}

// node returns node i.
func (t *tape) node(i int) *node {
	if i < len(t.few) {
		return &t.few[i]
	}
	return &t.many[i-len(t.few)]
}

func (t *tape) add(n node) {
	if t.size < len(t.few) {
		t.few[t.size] = n
	} else {
		t.spill(n)
	}
	t.size++
}

// spill adds a node that is not one of the few. The first time it makes room for the
// estimated number of nodes of the text.
func (t *tape) spill(n node) {
	const most = 1 << 16
	if t.many == nil {
		t.many = make([]node, 0, min(t.size*(t.text/n.at)+1, most))
	}
	t.many = append(t.many, n)
}

// scalar adds a scalar or a key.
func (t *tape) scalar(at, end int, f flags) {
	if t != nil {
		t.add(node{at: at, end: end, next: t.size + 1, flags: f})
	}
}

// push adds a container that begins at the offset at.
func (t *tape) push(at int) {
	if t != nil {
		t.add(node{at: at, next: t.open})
		t.open = t.size - 1
	}
}

// pop ends the innermost container at the offset end.
func (t *tape) pop(end int) {
	if t != nil {
		n := t.node(t.open)
		t.open = n.next
		n.end, n.next = end, t.size
	}
}
