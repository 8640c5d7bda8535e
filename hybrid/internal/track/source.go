package track

import (
	"context"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Redactor changes lines before they leave. Package hybrid documents it.
type Redactor interface {
	Version() string
	Line(line []byte) []byte
}

// Files are the sessions of a directory, as package core has them.
type Files interface {
	Read(ctx context.Context, id string, do func(dir *sessiondir.Dir) error) error
	Epoch(id string, stamp sessiondir.Stamp) uint64    // of the store's own appends; 0: not known
	Settled(stamp sessiondir.Stamp, at time.Time) bool // a change after at would have another stamp
}

// Source is a local file of lines of a session. It is open only while it is read, never while
// a request is under way: an open file makes the store's own writes dearer.
type Source struct {
	Core   Files
	ID     string
	Name   string // of the file in the session's directory
	Stream segment.Stream
	Start  int64                // bytes of the file that are not of the stream
	Redact Redactor             // nil: exact bytes
	Window *Window              // holds what was read last; sources that are read in turn share it
	Sent   func() segment.Point // how much of it the remote has, as far as that is known; nil: nothing
}

// Chain is the whole lines of a source at the time of a scan, in the form in which they leave.
type Chain struct {
	Source
	Followed
	There bool // the file is there
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

// Followed is how far a file of lines was read.
type Followed struct {
	File  sessiondir.Stamp `json:"file"`
	At    time.Time        `json:"at"` // when File was taken
	Marks []segment.Mark   `json:"ckpt"`
	Tail  segment.Hash     `json:"tail"` // of the bytes before the last mark
	Torn  bool             `json:"torn,omitempty"`
	Rules string           `json:"rules,omitempty"` // version of the redaction
	Raw   segment.Hash     `json:"raw,omitzero"`    // behind the lines as they are here, where they leave redacted
	Epoch uint64           `json:"epoch,omitempty"` // see core.Store.Epoch
	Forms []Form           `json:"forms,omitempty"` // of lines before the last mark, in their order
	Mixed bool             `json:"mixed,omitempty"` // Rules give some of these lines another form
}
