package pyjson

// node is one value or key of a scanned text. Nodes stand in the order of the text: a container, then its content, where
// a member of an object takes one node for its key and one or more for its value.
type node struct {
	at, end int // its bytes

	// next is, of a key, the value to write with it, at first its own; of any other node, the node behind it and its
	// content; of a container that is still open, the container around it.
	next  int
	flags flags
}

// flags says what is in a string, and of a key how its member is to be written.
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

// spill adds a node that is not one of the few. The first time it makes room for as many as the text seems to have.
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
