package pyjson

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// writer writes a scanned value.
type writer struct {
	b         []byte
	tape      *tape
	style     Style
	rewritten flags // strings with these flags are written anew

	problem problem // the first
	failed  int     // where it is
}

// The levels of containers around a value before the sanitiser removes it. It does not
// change an unlimited value.
const (
	unlimited = -1
	fieldSpan = 50
)

// read scans the value.
func (w *writer) read() error {
	w.tape.text = len(w.b)
	s := scanner{b: w.b, dialect: either, tape: w.tape}
	s.scan()
	if s.problem != none {
		return s.failure()
	}
	w.rewritten = w.style.rewritten()
	if w.style.MaxDepth <= 0 || w.style.MaxDepth > MaxDepth {
		w.style.MaxDepth = MaxDepth
	}
	return nil
}

// size estimates the length of the result: every node may gain a space.
func (w *writer) size() int { return len(w.b) + w.tape.size + w.style.Indent*2*w.tape.size }

// finish returns the result, or dst when something was refused.
func (w *writer) finish(dst, result []byte) ([]byte, error) {
	if w.problem == none {
		return result, nil
	}
	return dst, w.problem.at(w.failed, w.b)
}

// refuse notes a problem at node n unless there was one before.
func (w *writer) refuse(n *node, p problem) {
	if w.problem == none {
		w.failed, w.problem = n.at, p
	}
}

// removed reports whether the sanitiser removes the value of node i from a container that it leaves span levels.
func (w *writer) removed(i, span int) bool {
	return span != unlimited && (span == 1 || w.b[w.tape.node(i).at] == 'n')
}

// within returns the rest of span inside a container.
func within(span int) int {
	if span == unlimited {
		return span
	}
	return span - 1
}

// fits reports whether the container at node i may be that deep, and refuses it
// otherwise.
func (w *writer) fits(i, depth int) bool {
	if depth > w.style.MaxDepth {
		w.refuse(w.tape.node(i), tooDeep)
		return false
	}
	return true
}

// separate appends the text before the next element of a container behind count others.
func (w *writer) separate(dst []byte, count, depth int) []byte {
	if count > 0 {
		dst = append(dst, ',')
	}
	switch {
	case w.style.Indent > 0:
		return w.newline(dst, depth)
	case count > 0 && !w.style.Compact:
		return append(dst, ' ')
	}
	return dst
}

// close appends the end of a container of count elements.
func (w *writer) close(dst []byte, c byte, count, depth int) []byte {
	if count > 0 && w.style.Indent > 0 {
		dst = w.newline(dst, depth-1)
	}
	return append(dst, c)
}

func (w *writer) newline(dst []byte, depth int) []byte {
	dst = append(dst, '\n')
	for range depth * w.style.Indent {
		dst = append(dst, ' ')
	}
	return dst
}

// Encode returns v as raw JSON. A [json.RawMessage] is checked as [Tolerant] and copied
// as it is, so NaN, order and number texts stay. Everything else goes through
// encoding/json, without its escapes for HTML; raw messages inside another value must be
// acceptable to encoding/json. The result is always a value that Check accepts.
func Encode(v any) ([]byte, error) {
	raw, ok := v.(json.RawMessage)
	if !ok || raw == nil {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return nil, fmt.Errorf("encode value: %w", err)
		}
		raw = bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})
	}
	if err := Check(raw, Tolerant); err != nil {
		return nil, fmt.Errorf("encode value: %w", err)
	}
	if ok {
		raw = bytes.Clone(raw)
	}
	return raw, nil
}

// Style says how values are written. The zero Style is json.dumps(v, ensure_ascii=False).
type Style struct {
	Indent   int  // spaces a level; 0 is one line
	Compact  bool // separators "," and ":" instead of ", " and ": "
	ASCII    bool // \u escapes for DEL and everything beyond ASCII, in surrogate pairs beyond U+FFFF
	Portable bool // \u escapes for U+0085, U+2028 and U+2029, at which some tools break lines
	SortKeys bool // members at every level by name, in the order of code points
	Redact   bool // "[REDACTED]" as the value of every member with a secret's name
	Finite   bool // refuse NaN, infinities and floats that overflow
	KeepBig  bool // a float that overflows keeps its text, which the newer tools read, and does not become Infinity, which they refuse
	Replace  bool // U+FFFD for lone surrogates, which else are written as escapes
	MaxDepth int  // containers that may be nested; 0 and more than MaxDepth mean MaxDepth
}

// rewritten returns the flags of strings that cannot be copied as they are.
func (st Style) rewritten() flags {
	f := escaped | surrogate
	if st.ASCII {
		f |= wide
	}
	if st.Portable {
		f |= separator
	}
	return f
}
