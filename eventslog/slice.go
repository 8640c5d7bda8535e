package eventslog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// SliceTo writes the events up to the time cut, and those without a time, to
// dst, one a line, and returns how many. Lines that are no events, and events
// whose time cannot be read, are left out; a time without an offset is in UTC.
//
// Lines keep their bytes, but for white space around them, when newSessionID is empty.
// Otherwise they are written as json.dumps writes them, with newSessionID as their
// session_id. Those that had a session_id get a parent_session_id: parentID, or their
// former session_id if parentID is empty.
//
// A missing log is [fs.ErrNotExist]. After an error dst has some of the events,
// perhaps the beginning of one more, and the count is 0.
func (l *Log) SliceTo(ctx context.Context, dst io.Writer, cut time.Time, newSessionID, parentID string) (n int, err error) {
	c, err := l.Cut(ctx, dst, cut, newSessionID, parentID)
	return c.Events, err
}

// Cut counts the events in a slice of a log, and the lines left out as damaged.
type Cut struct {
	Events  int // that were written
	Skipped int // lines, not blank, that are no events, and events whose time cannot be read
}

// Cut does the same as [Log.SliceTo], and also counts the lines that it leaves out.
func (l *Log) Cut(ctx context.Context, dst io.Writer, until time.Time, newSessionID, parentID string) (Cut, error) {
	f, err := l.open()
	if err != nil {
		return Cut{}, fmt.Errorf("slice events: %w", err)
	}
	s := slicer{ls: l.events(), out: bufio.NewWriterSize(dst, blockSize), until: until}
	if newSessionID != "" {
		s.id = pyjson.AppendQuoted(nil, newSessionID, pyjson.Style{})
	}
	if parentID != "" {
		s.parent = pyjson.AppendQuoted(nil, parentID, pyjson.Style{})
	}
	err = s.ls.begin(ctx, f, Cursor{})
	if err == nil {
		err = s.run()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return Cut{}, fmt.Errorf("slice events: %w", err)
	}
	return Cut{Events: s.events, Skipped: s.ls.damaged}, nil
}

// slicer writes a slice of a log.
type slicer struct {
	ls         *events
	out        *bufio.Writer
	until      time.Time
	id, parent []byte // that the events get, in JSON; nil: they keep their ids, and the parent is the former id
	events     int
	dump       []byte
}

// run writes the events that s keeps, also the events before a failure.
func (s *slicer) run() error {
	for {
		_, err := s.ls.event()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			if ferr := s.out.Flush(); err == nil {
				err = ferr
			}
			return err
		}
		if !s.keeps() {
			continue
		}
		if err := s.write(s.ls.object); err != nil {
			return err
		}
		s.events++
	}
}

// keeps reports whether the event that was read is not after the cut.
func (s *slicer) keeps() bool {
	at := s.ls.time()
	if at == nil {
		return true
	}
	t, _, err := pytime.Parse(text(at))
	if pyjson.KindOf(at) != pyjson.String || err != nil {
		s.ls.damaged++
		return false
	}
	return !t.After(s.until)
}

// write writes an event, with its new ids if it gets some, and the end of its line.
func (s *slicer) write(event []byte) (err error) {
	switch {
	case s.id == nil:
		s.put(event)
	case isDumped(event):
		s.rename(event)
	default:
		if s.dump, err = pyjson.Append(s.dump[:0], event, pyjson.Style{}); err != nil {
			return err
		}
		s.rename(s.dump)
	}
	return s.out.WriteByte('\n')
}

// rename writes an event, which is as json.dumps writes it, with its new ids. As in Python, a
// new member comes last.
func (s *slicer) rename(event []byte) {
	former := pyjson.Values(event, idNames[:]...)
	ids := [2][]byte{s.id, s.parent}
	if !pyjson.Truthy(former[0]) {
		ids[1] = nil
	} else if s.parent == nil {
		ids[1] = former[0]
	}
	done, empty := 0, true
	for m := range pyjson.Members(event) {
		empty = false
		for i := range ids {
			if ids[i] != nil && pyjson.KeyIs(m.Key, idNames[i]) {
				s.put(event[done:m.ValueAt])
				s.put(ids[i])
				done = m.ValueAt + len(m.Value)
			}
		}
	}
	s.put(event[done : len(event)-1])
	for i := range ids {
		if ids[i] == nil || former[i] != nil {
			continue
		}
		if !empty {
			s.putText(", ")
		}
		s.putText(idMembers[i])
		s.put(ids[i])
	}
	s.putText("}")
}

var (
	idNames   = [...]string{"session_id", "parent_session_id"}
	idMembers = [...]string{`"session_id": `, `"parent_session_id": `}
)

// put writes a text, in blocks: Linux takes twice the time for writes of some megabytes. An
// error comes again with the end of the line.
func (s *slicer) put(text []byte) {
	for ; len(text) > blockSize; text = text[blockSize:] {
		_, _ = s.out.Write(text[:blockSize])
	}
	_, _ = s.out.Write(text)
}

func (s *slicer) putText(text string) { _, _ = s.out.WriteString(text) }
