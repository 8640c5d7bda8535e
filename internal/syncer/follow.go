package syncer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// scan finds out how a source stands, and reads no more of it than what may
// have changed since it was last followed. A file that is only appended to in
// place is trusted up to the end that was seen, if the bytes before that are
// what they were.
func (s source) scan(ctx context.Context, last *replica.Followed, appended bool) (*history, error) {
	h := &history{source: s}
	err := s.core.Read(ctx, s.id, func(dir *sessiondir.Dir) error {
		f, stamp, err := dir.Open(s.name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		h.there = true
		return errors.Join(h.follow(ctx, f, stamp, last, appended), f.Close())
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.name, err)
	}
	return h, nil
}

func (h *history) follow(ctx context.Context, f io.ReadSeeker, stamp sessiondir.Stamp, last *replica.Followed, appended bool) error {
	now := time.Now()
	sameRules := last != nil && last.Rules == h.rules()
	if sameRules && last.File.Same(stamp) && h.core.Settled(last.File, last.At) {
		h.Followed = *last
		return nil
	}
	h.File, h.At, h.Rules = stamp, now, h.rules()
	if stamp.Size < h.start { // cut below the beginning of the stream
		short := h.begin()
		short.Offset = stamp.Size
		h.Marks = []segment.Mark{short}
		return nil
	}
	if last != nil && !sameRules && h.sent != nil {
		if kept, err := h.recast(ctx, f, last, h.sent()); kept || err != nil {
			return err
		}
	}
	h.Forms, h.Mixed = nil, false
	marks := []segment.Mark{h.begin()}
	if !sameRules {
		return h.hash(ctx, f, marks, fresh)
	}
	if len(last.Marks) > 0 && h.continues(f, last, appended) {
		marks = last.Marks
	}
	return h.again(ctx, f, marks, last)
}

// again follows lines behind the last of marks under the same rules as before.
func (h *history) again(ctx context.Context, f io.ReadSeeker, marks []segment.Mark, last *replica.Followed) error {
	h.Forms, h.Mixed = before(last.Forms, marks[len(marks)-1].N), last.Mixed
	known := history{Followed: replica.Followed{Forms: last.Forms, Mixed: last.Mixed}}
	return h.hash(ctx, f, marks, known.form)
}

// continues reports whether the file begins as it was when it was last
// followed, as far as that is found out faster than by hashing its lines: of a
// file that is appended to in place the end tells, and where lines are redacted
// before they are hashed, all bytes.
func (h *history) continues(f io.ReadSeeker, last *replica.Followed, appended bool) bool {
	end := last.Marks[len(last.Marks)-1].Offset
	switch {
	case end > h.File.Size:
		return false
	case appended && last.File.Dev == h.File.Dev && last.File.Inode == h.File.Inode:
		tail, err := tailSum(f, end)
		return err == nil && tail == last.Tail
	case h.redact != nil || last.Mixed:
		whole, err := sumOf(f, 0, end)
		return err == nil && whole == last.Whole
	}
	return false
}

// hash goes on behind the last of marks to the last whole line.
func (h *history) hash(ctx context.Context, f io.ReadSeeker, marks []segment.Mark, known forms) error {
	t := segment.NewTracker(h.stream, nil, marks)
	for {
		lines, torn, err := h.window.lines(ctx, f, t.Mark().Offset)
		if err != nil {
			return err
		}
		if h.Torn = torn; len(lines) == 0 {
			break
		}
		for line := range jsonl.Lines(lines) {
			t.Add(line.Bytes, h.add(t.Mark().N, line.Bytes, known))
		}
	}
	h.Marks = t.Marks()
	var err error
	if h.redact != nil || h.Mixed {
		if h.Whole, err = sumOf(f, 0, t.Mark().Offset); err != nil {
			return err
		}
	}
	h.Tail, err = tailSum(f, t.Mark().Offset)
	return err
}

// recast follows a file again whose rules have changed. The lines up to sent are in
// the cloud, and keep their forms. It reports false when the lines here are others.
func (h *history) recast(ctx context.Context, f io.ReadSeeker, last *replica.Followed, sent segment.Point) (bool, error) {
	h.Forms, h.Mixed = nil, false
	old := history{Followed: replica.Followed{Forms: last.Forms, Mixed: true}}
	err := h.hash(ctx, f, []segment.Mark{h.begin()}, func(n int64, line []byte) ([]byte, bool) {
		if n >= sent.N {
			return nil, false
		}
		if form, ok := old.form(n, line); ok {
			return form, true
		}
		return line, true // no rules changed it
	})
	if err != nil {
		return false, err
	}
	at, ok, err := h.pointAt(ctx, f, sent.N)
	return ok && at == sent, err
}

// pointAt returns the point behind n lines of an open file that was followed. It reads
// the lines behind the mark before n again: none when n is the end, and else fewer than
// there are behind n, give or take a few. Only rules that changed make it necessary.
func (h *history) pointAt(ctx context.Context, f io.ReadSeeker, n int64) (segment.Point, bool, error) {
	if n > h.end().N {
		return segment.Point{}, false, nil
	}
	at, ok := segment.Floor(h.Marks, n)
	if !ok {
		at = h.begin()
	}
	t := segment.NewTracker(h.stream, nil, []segment.Mark{at})
	for t.Mark().N < n {
		lines, _, err := h.window.lines(ctx, f, t.Mark().Offset)
		if err != nil || len(lines) == 0 {
			return segment.Point{}, false, err
		}
		for line := range jsonl.Lines(lines) {
			if t.Mark().N < n {
				t.Add(line.Bytes, h.leaving(t.Mark().N, line.Bytes))
			}
		}
	}
	return t.Mark().Point(), true, nil
}
