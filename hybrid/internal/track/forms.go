package track

import (
	"bytes"
	"context"
	"crypto/sha256"
	"sort"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// Form is the form in which a line of a file was sent, where rules of redaction changed
// it, or where today's rules would. It holds no text that was not sent.
type Form struct {
	N     int64        `json:"n"`           // of the line; the first is 0
	Line  segment.Hash `json:"of"`          // of its bytes here
	Begin int          `json:"b,omitempty"` // number of bytes at its beginning that were sent as they are
	End   int          `json:"e,omitempty"` // and how many at its end
	Text  []byte       `json:"t,omitempty"` // the text that was sent between them
}

// FormOf returns the form of line n.
func FormOf(n int64, line, sent []byte) Form {
	begin := segment.CommonPrefix(line, sent)
	end := segment.CommonSuffix(line[begin:], sent[begin:])
	return Form{N: n, Line: sha256.Sum256(line), Begin: begin, End: end, Text: bytes.Clone(sent[begin : len(sent)-end])}
}

// Of reports whether f is the form of that line.
func (f *Form) Of(line []byte) bool {
	return f.Begin >= 0 && f.End >= 0 && f.Begin+f.End <= len(line) && f.Line == sha256.Sum256(line)
}

// Apply returns the line as it was sent.
func (f *Form) Apply(line []byte) []byte {
	sent := make([]byte, 0, f.Begin+len(f.Text)+f.End)
	sent = append(sent, line[:f.Begin]...)
	sent = append(sent, f.Text...)
	return append(sent, line[len(line)-f.End:]...)
}

// Today returns a line in the form of today's rules.
func (s *Source) Today(line []byte) []byte {
	if s.Redact == nil {
		return line
	}
	return s.Redact.Line(line)
}

// Leaving returns line n of the file as it is sent now, or as it was sent before.
func (h *Chain) Leaving(n int64, line []byte) []byte {
	if sent, ok := h.form(n, line); ok {
		return sent
	}
	return h.Today(line)
}

// form returns the recorded form of line n, if today's rules would give another one.
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

// FormAt returns the form of line n; nil when none is recorded.
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

// forms returns the form that a line has already: the result of [Chain.form].
type forms func(n int64, line []byte) (sent []byte, ok bool)

// fresh is for lines that were never sent.
func fresh(int64, []byte) ([]byte, bool) { return nil, false }

// Add returns line n, the last so far, as it is sent, and records its form if rules
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

// FormsOf returns the known forms of a file's lines, for a scan that reads the whole
// file.
func (h *Chain) FormsOf() *Followed {
	return &Followed{Rules: h.rules(), Forms: h.Forms, Mixed: h.Mixed}
}

// Redactor changes lines before they leave. Package hybrid documents it.
type Redactor interface {
	Version() string
	Line(line []byte) []byte
}

// Files are the sessions of a directory, as in package core.
type Files interface {
	Read(ctx context.Context, id string, do func(dir *sessiondir.Dir) error) error
	Epoch(id string, stamp sessiondir.Stamp) uint64    // of the store's own appends; 0: not known
	Settled(stamp sessiondir.Stamp, at time.Time) bool // a change after at would have another stamp
}

// Source is a local file of lines of a session. It is open only while it is read, never
// while a request is under way: an open file makes the store's own writes dearer.
type Source struct {
	Core   Files
	ID     string
	Name   string // of the file in the session's directory
	Stream segment.Stream
	Start  int64                // bytes of the file that are not of the stream
	Redact Redactor             // nil: exact bytes
	Window *Window              // holds the bytes read last; sources that are read in turn share it
	Sent   func() segment.Point // the known end of it in the remote; nil: nothing
}

// Chain is the whole lines of a source at the time of a scan, in the form in which they
// are sent.
type Chain struct {
	Source
	Followed
	There bool // the file exists
}

// End returns the place behind the last whole line.
func (h *Chain) End() segment.Mark {
	if len(h.Marks) == 0 {
		return h.begin()
	}
	return h.Marks[len(h.Marks)-1]
}

// Point returns the number of lines and their hash.
func (h *Chain) Point() segment.Point { return h.End().Point() }

// begin returns the place at which the stream begins.
func (s *Source) begin() segment.Mark {
	m := segment.Begin(s.Stream)
	m.Offset = s.Start
	return m
}

// rules returns the version of the redaction.
func (s *Source) rules() string {
	if s.Redact == nil {
		return ""
	}
	return s.Redact.Version()
}

// Followed records how far a file of lines was read.
type Followed struct {
	File  sessiondir.Stamp `json:"file"`
	At    time.Time        `json:"at"` // when File was taken
	Marks []segment.Mark   `json:"ckpt"`
	Tail  segment.Hash     `json:"tail"` // of the bytes before the last mark
	Torn  bool             `json:"torn,omitempty"`
	Rules string           `json:"rules,omitempty"` // version of the redaction
	Raw   segment.Hash     `json:"raw,omitzero"`    // behind the lines as they are here, where they are sent redacted
	Epoch uint64           `json:"epoch,omitempty"` // see core.Store.Epoch
	Forms []Form           `json:"forms,omitempty"` // of lines before the last mark, in their order
	Mixed bool             `json:"mixed,omitempty"` // Rules give some of these lines another form
}
