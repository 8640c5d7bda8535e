package syncer

import (
	"bytes"
	"sort"

	"github.com/amplifier-go/sessionstorage/internal/replica"
)

// # The form of a line
//
// A line is sent in the form that the rules of redaction give it then, and has that
// form for good: the hashes of the history are made of it. Rules change: a new
// version finds more, a user adds patterns. New rules hold for the lines that were
// not sent yet. So the state keeps the forms of those lines that some rules
// change, see [replica.Form], and a line is looked up there before the rules of
// today are asked.
//
// A form belongs to a line with that number and content. A line that was written
// since, in the place of another one, has none.

// today returns a line as the rules of today let it leave.
func (s *source) today(line []byte) []byte {
	if s.redact == nil {
		return line
	}
	return s.redact.Line(line)
}

// leaving returns line n of the file as it leaves the device, or as it left before.
func (h *history) leaving(n int64, line []byte) []byte {
	if sent, ok := h.form(n, line); ok {
		return sent
	}
	return h.today(line)
}

// form returns the form of line n that is kept, if the rules of today would give
// another one.
func (h *history) form(n int64, line []byte) ([]byte, bool) {
	if !h.Mixed {
		return nil, false
	}
	f := formAt(h.Forms, n)
	if f == nil || !f.Of(line) {
		return nil, false
	}
	return f.Apply(line), true
}

// formAt returns the form of line n; nil when none is kept.
func formAt(forms []replica.Form, n int64) *replica.Form {
	i := sort.Search(len(forms), func(i int) bool { return forms[i].N >= n })
	if i == len(forms) || forms[i].N != n {
		return nil
	}
	return &forms[i]
}

// before returns the forms of the lines before line n.
func before(forms []replica.Form, n int64) []replica.Form {
	i := sort.Search(len(forms), func(i int) bool { return forms[i].N >= n })
	return forms[:i:i]
}

// forms tells which form a line has already: what [history.form] returns.
type forms func(n int64, line []byte) (sent []byte, ok bool)

// fresh is for lines that were never sent.
func fresh(int64, []byte) ([]byte, bool) { return nil, false }

// add returns line n, the last so far, as it leaves, and keeps its form if rules
// change it.
func (h *history) add(n int64, line []byte, known forms) []byte {
	sent, fixed := known(n, line)
	today := h.today(line)
	if !fixed {
		sent = today
	}
	mixed := fixed && !bytes.Equal(sent, today)
	if mixed || !bytes.Equal(sent, line) {
		h.Mixed = h.Mixed || mixed
		h.Forms = append(h.Forms, replica.FormOf(n, line, sent))
	}
	return sent
}

// formsOf returns what is known of the forms of a file's lines, for a scan that is to
// read all of it.
func (h *history) formsOf() *replica.Followed {
	return &replica.Followed{Rules: h.rules(), Forms: h.Forms, Mixed: h.Mixed}
}
