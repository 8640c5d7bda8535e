package eventslog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// SliceTo writes the events up to the time cut, and those without a time, to
// dst, one a line, and returns how many. Lines that are no events, and events
// whose time cannot be read, are left out; a time without an offset is in UTC.
//
// Lines keep their bytes, but for white space around them, when newSessionID is empty.
// Otherwise they are written as json.dumps writes them, with newSessionID as their
// session_id. Those that had a session_id get a parent_session_id: parentID, or their
// former session_id if parentID is empty. Of lines beyond 1 GiB, in a program of 32 bits
// 16 MiB, only these two members change.
//
// A missing log is [fs.ErrNotExist]. After an error dst has some of the events,
// perhaps the beginning of one more, and the count is 0; a file may keep 4 MiB
// reserved behind its end, until it is cut or removed. Workers of this call
// read ahead; none is left when it returns.
func (l *Log) SliceTo(ctx context.Context, dst io.Writer, cut time.Time, newSessionID, parentID string) (n int, err error) {
	c, err := l.Cut(ctx, dst, cut, newSessionID, parentID)
	return c.Events, err
}

func (s *slicing) run(ctx context.Context, f *os.File, dst io.Writer) (int, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	s.parts = newParting(fi.Size(), maxSlicers).cut(fi.Size(), slicePart)
	s.order = make(chan chan chunk, s.parts.workers)
	s.free = make(chan []byte, 3*s.parts.workers+3) // all that there can be

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		err := s.parts.run(ctx, func(ctx context.Context, _ int) error { return s.work(ctx) })
		close(s.order)
		done <- err
	}()
	out := newOutput(dst)
	n, err := s.write(out)
	if err != nil {
		cancel() // the workers may wait for what is not taken any more
	}
	for range s.order {
	}
	if werr := <-done; err == nil {
		err = werr
	}
	if ferr := out.flush(); err == nil {
		err = ferr
	}
	return n, err
}

// write writes the chunks of all parts, and counts the events.
func (s *slicing) write(out *output) (n int, err error) {
	r := renamer{slicing: s}
	for part := range s.order {
		for c := range part {
			if err := r.put(out, c); err != nil {
				return n, err
			}
			n += c.events
			select {
			case s.free <- c.text[:0]:
			default:
			}
		}
	}
	return n, nil
}

// work cuts parts until none is left.
func (s *slicing) work(ctx context.Context) error {
	c := slicer{slicing: s, rs: emptyRecords(s.log.newer), text: s.empty(), renamer: renamer{slicing: s}}
	defer func() { s.skipped.Add(int64(c.rs.skipped)) }()
	for {
		p, out, ok, err := s.deal(ctx)
		if !ok {
			return err
		}
		c.out = out
		err = s.log.each(ctx, c.rs, s.src, p, func(rec record) error { return c.line(ctx, rec) })
		err = errors.Join(err, c.send(ctx, chunk{err: err}))
		close(out)
		if err != nil {
			return err
		}
	}
}

// Cut tells what a slice of a log has, and what was left out as damaged.
type Cut struct {
	Events  int // that were written
	Skipped int // lines, not blank, that are no events, and events whose time cannot be read
}

// Cut is [Log.SliceTo] that also counts what it leaves out.
func (l *Log) Cut(ctx context.Context, dst io.Writer, until time.Time, newSessionID, parentID string) (Cut, error) {
	f, err := l.open()
	if err != nil {
		return Cut{}, fmt.Errorf("slice events: %w", err)
	}
	s := slicing{log: l, src: f, cut: until, whole: maxWhole}
	if newSessionID != "" {
		s.id = pyjson.AppendQuoted([]byte(sessionName), newSessionID, pyjson.Style{})
		s.parent = []byte(parentName)
		if parentID != "" {
			s.parent = pyjson.AppendQuoted(s.parent, parentID, pyjson.Style{})
		}
	}
	n, err := s.run(ctx, f, dst)
	if err = errors.Join(err, f.Close()); err != nil {
		return Cut{}, fmt.Errorf("slice events: %w", err)
	}
	return Cut{Events: n, Skipped: int(s.skipped.Load())}, nil
}

const maxSlicers = 4

// slicePart is so small that what remains of a part waits in memory until
// the parts before it are written, and its worker goes on.
const slicePart = 256 << 10
