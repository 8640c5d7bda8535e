package eventslog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// Cut counts the events in a slice of a log, and the lines left out as damaged.
type Cut struct {
	Events  int // that were written
	Skipped int // lines, not blank, that are no events, and events whose time cannot be read
}

// SliceTo writes the events up to the time until, and those without a time, to dst, one a
// line, and counts them. Lines that are no events, and events whose time cannot be read,
// are left out; a time without an offset is in UTC.
//
// Lines keep their bytes, but for white space around them, when newSessionID is empty.
// Otherwise they are written as json.dumps writes them, with newSessionID as their
// session_id. Those that had a session_id get a parent_session_id: parentID, or their
// former session_id if parentID is empty.
//
// A missing log is [fs.ErrNotExist]. After an error dst has some of the events,
// perhaps the beginning of one more, and the Cut is zero.
func (l *Log) SliceTo(ctx context.Context, dst io.Writer, until time.Time, newSessionID, parentID string) (Cut, error) {
	f, err := l.open()
	if err != nil {
		return Cut{}, fmt.Errorf("slice events: %w", err)
	}
	s := slicer{ls: l.events(), out: bufio.NewWriterSize(dst, blockSize), until: until}
	if newSessionID != "" {
		s.ids[0] = pyjson.Quote(newSessionID)
	}
	if parentID != "" {
		s.ids[1] = pyjson.Quote(parentID)
	}
	events, err := s.run(ctx, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return Cut{}, fmt.Errorf("slice events: %w", err)
	}
	return Cut{Events: events, Skipped: s.ls.damaged}, nil
}

// slicer writes a slice of a log.
type slicer struct {
	ls    *events
	out   *bufio.Writer
	until time.Time
	ids   [2][]byte // values of idNames, in JSON; the first nil: events keep their ids; the second nil: the former id
	dump  []byte
	spans []pyjson.Span // of dump
}

// idNames are the names of the members that get new ids.
var idNames = [...]string{"session_id", "parent_session_id"}

// run writes the events of f that s keeps, also the events before a failure.
func (s *slicer) run(ctx context.Context, f *os.File) (events int, err error) {
	if err := s.ls.begin(ctx, f, Cursor{}); err != nil {
		return 0, err
	}
	for ln, err := range s.ls.all() {
		if err != nil {
			return events, errors.Join(err, s.out.Flush())
		}
		if !s.ls.parse(ln) || !s.inSlice() {
			continue
		}
		if err := s.write(); err != nil {
			return events, err
		}
		events++
	}
	return events, s.out.Flush()
}

// inSlice reports whether the event that was read is not after the cut.
func (s *slicer) inSlice() bool {
	at := s.ls.time()
	if at == nil {
		return true
	}
	t, _, err := pytime.Parse(text(at))
	if err != nil {
		s.ls.damaged++
		return false
	}
	return !t.After(s.until)
}

// write writes the event that was read, with its new ids if it gets some, and the end of its
// line.
func (s *slicer) write() (err error) {
	event, spans := s.ls.object, s.ls.spans
	if s.ids[0] == nil {
		s.put(event)
		return s.out.WriteByte('\n')
	}
	if !isDumped(event) {
		s.spans = s.spans[:0]
		if s.dump, err = pyjson.Append(s.dump[:0], event, pyjson.Style{}); err == nil {
			err = pyjson.CheckSpans(s.dump, pyjson.Tolerant, &s.spans)
		}
		if err != nil {
			return err
		}
		event, spans = s.dump, s.spans
	}
	s.rename(event, spans)
	return s.out.WriteByte('\n')
}

// rename writes an event, which is as json.dumps writes it and has these members, with its
// new ids. As in Python, a new member comes last.
func (s *slicer) rename(event []byte, members []pyjson.Span) {
	var former [len(idNames)][]byte
	for _, m := range members {
		for i, name := range idNames {
			if pyjson.KeyIs(event[m.Key:m.KeyEnd], name) {
				former[i] = event[m.Value:m.ValueEnd]
			}
		}
	}
	ids := s.ids
	if !pyjson.Truthy(former[0]) {
		ids[1] = nil
	} else if ids[1] == nil {
		ids[1] = former[0]
	}
	done := 0
	for _, m := range members {
		for i, name := range idNames {
			if ids[i] != nil && pyjson.KeyIs(event[m.Key:m.KeyEnd], name) {
				s.put(event[done:m.Value])
				s.put(ids[i])
				done = m.ValueEnd
			}
		}
	}
	s.put(event[done : len(event)-1])
	for i, name := range idNames {
		if ids[i] == nil || former[i] != nil {
			continue
		}
		if len(members) > 0 {
			s.putText(", ")
		}
		s.putText(`"`)
		s.putText(name)
		s.putText(`": `)
		s.put(ids[i])
	}
	s.putText("}")
}

// put writes a text, in blocks: Linux takes twice the time for writes of some megabytes. An
// error comes again with the end of the line.
func (s *slicer) put(text []byte) {
	for ; len(text) > blockSize; text = text[blockSize:] {
		_, _ = s.out.Write(text[:blockSize])
	}
	_, _ = s.out.Write(text)
}

func (s *slicer) putText(text string) { _, _ = s.out.WriteString(text) }
