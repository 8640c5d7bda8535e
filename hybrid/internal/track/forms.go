package track

import (
	"bytes"
	"sort"
)

// Today returns a line as the rules of today let it leave.
func (s *Source) Today(line []byte) []byte {
	if s.Redact == nil {
		return line
	}
	return s.Redact.Line(line)
}

// Leaving returns line n of the file as it leaves the device, or as it left before.
func (h *Chain) Leaving(n int64, line []byte) []byte {
	if sent, ok := h.form(n, line); ok {
		return sent
	}
	return h.Today(line)
}

// form returns the form of line n that is kept, if the rules of today would give
// another one.
func (h *Chain) form(n int64, line []byte) ([]byte, bool) {
	if !h.Mixed {
		return nil, false
	}
	f := FormAt(h.Forms, n)
	if f == nil || !f.Of(line) {
		return nil, false
	}
	return f.Apply(line), true
}

// FormAt returns the form of line n; nil when none is kept.
func FormAt(forms []Form, n int64) *Form {
	i := sort.Search(len(forms), func(i int) bool { return forms[i].N >= n })
	if i == len(forms) || forms[i].N != n {
		return nil
	}
	return &forms[i]
}

// Before returns the forms of the lines before line n.
func Before(forms []Form, n int64) []Form {
	i := sort.Search(len(forms), func(i int) bool { return forms[i].N >= n })
	return forms[:i:i]
}

// forms tells which form a line has already: what [Chain.form] returns.
type forms func(n int64, line []byte) (sent []byte, ok bool)

// fresh is for lines that were never sent.
func fresh(int64, []byte) ([]byte, bool) { return nil, false }

// Add returns line n, the last so far, as it leaves, and keeps its form if rules
// change it.
func (h *Chain) Add(n int64, line []byte, known forms) []byte {
	sent, fixed := known(n, line)
	today := h.Today(line)
	if !fixed {
		sent = today
	}
	mixed := fixed && !bytes.Equal(sent, today)
	if mixed || !bytes.Equal(sent, line) {
		h.Mixed = h.Mixed || mixed
		h.Forms = append(h.Forms, FormOf(n, line, sent))
	}
	return sent
}

// FormsOf returns what is known of the forms of a file's lines, for a scan that is to
// read all of it.
func (h *Chain) FormsOf() *Followed {
	return &Followed{Rules: h.rules(), Forms: h.Forms, Mixed: h.Mixed}
}
