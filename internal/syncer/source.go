package syncer

import (
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// source is a file of lines of a session, read only while nothing waits for
// the cloud: an open file would make the store's own writes dearer.
type source struct {
	core   core.Store
	id     string
	name   string // of the file
	stream segment.Stream
	start  int64                // bytes of the file that are not of the stream
	redact Redactor             // nil: exact bytes
	window *window              // what is read of it; that of the sync
	sent   func() segment.Point // how much of it is in the cloud, as far as that is known; nil: nothing
}

// history is a source as it stands: its whole lines, after redaction.
type history struct {
	source
	replica.Followed
	there bool
}

func (h *history) end() segment.Mark {
	if len(h.Marks) == 0 {
		return h.begin()
	}
	return h.Marks[len(h.Marks)-1]
}

func (h *history) point() segment.Point { return h.end().Point() }

// begin returns the place at which the stream begins.
func (s *source) begin() segment.Mark {
	m := segment.Begin(s.stream)
	m.Offset = s.start
	return m
}

// rules returns the version of the redaction.
func (s *source) rules() string {
	if s.redact == nil {
		return ""
	}
	return s.redact.Version()
}
