package syncer

import (
	"context"
	"errors"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// mark returns the place behind n records, and false when there are fewer.
func (h *history) mark(ctx context.Context, n int64) (segment.Mark, bool, error) {
	if n < 0 || n > h.end().N {
		return segment.Mark{}, false, nil
	}
	at, ok := segment.Floor(h.Marks, n)
	if !ok {
		at = h.begin()
	}
	if at.N == n {
		return at, true, nil
	}
	t := segment.NewTracker(h.stream, nil, []segment.Mark{at})
	for raw, err := range h.raw(ctx, at.Offset) {
		if err != nil {
			return segment.Mark{}, false, err
		}
		t.Add(raw, h.leaving(t.Mark().N, raw))
		if t.Mark().N == n {
			return t.Mark(), true, nil
		}
	}
	return segment.Mark{}, false, errMoved
}

// has reports whether p is on the history.
func (h *history) has(ctx context.Context, p segment.Point) (bool, error) {
	m, ok, err := h.mark(ctx, p.N)
	return ok && m.Hash == p.Hash, err
}

// lines yields the lines behind a mark as they leave, up to the end that scan
// found, as raw does.
func (h *history) lines(ctx context.Context, from segment.Mark) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		n, end := from.N, h.end().N
		if n == end {
			return
		}
		for raw, err := range h.raw(ctx, from.Offset) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(h.leaving(n, raw), nil) {
				return
			}
			if n++; n == end {
				return
			}
		}
		yield(nil, errMoved)
	}
}

// raw yields the whole lines of the file from an offset on, as they lie there.
// Each is valid until the sync reads on, be it another file. The file is closed
// whenever one is yielded.
func (s *source) raw(ctx context.Context, offset int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			data, err := s.part(ctx, offset)
			if err != nil {
				yield(nil, err)
				return
			}
			if len(data) == 0 {
				return // the end, or a line that is not finished
			}
			for line := range jsonl.Lines(data) {
				if !yield(line.Bytes, nil) {
					return
				}
			}
			offset += int64(len(data))
		}
	}
}

// part reads whole lines from an offset on.
func (s *source) part(ctx context.Context, offset int64) (data []byte, err error) {
	err = s.core.Read(ctx, s.id, func(dir *sessiondir.Dir) error {
		f, _, err := dir.Open(s.name)
		if err != nil {
			return err
		}
		data, _, err = s.window.lines(ctx, f, offset)
		return errors.Join(err, f.Close())
	})
	return data, err
}

// first yields the first n lines.
func first(n int64, lines iter.Seq2[[]byte, error]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		left := n
		for line, err := range lines {
			if left--; !yield(line, err) || left == 0 {
				return
			}
		}
	}
}
