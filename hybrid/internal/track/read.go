package track

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
)

// Mark returns the place behind n records, and false when there are fewer.
func (h *Chain) Mark(ctx context.Context, n int64) (segment.Mark, bool, error) {
	if n < 0 || n > h.End().N {
		return segment.Mark{}, false, nil
	}
	at, ok := segment.Floor(h.Marks, n)
	if !ok {
		at = h.begin()
	}
	if at.N == n {
		return at, true, nil
	}
	t := segment.NewTracker(h.Stream, nil, []segment.Mark{at})
	for raw, err := range h.RawLines(ctx, at.Offset) {
		if err != nil {
			return segment.Mark{}, false, err
		}
		t.Add(raw, h.Leaving(t.Mark().N, raw))
		if t.Mark().N == n {
			return t.Mark(), true, nil
		}
	}
	return segment.Mark{}, false, ErrMoved
}

// Has reports whether p is on the history.
func (h *Chain) Has(ctx context.Context, p segment.Point) (bool, error) {
	m, ok, err := h.Mark(ctx, p.N)
	return ok && m.Hash == p.Hash, err
}

// Lines yields the lines behind a mark as they are sent, up to the end that Scan found,
// as RawLines does.
func (h *Chain) Lines(ctx context.Context, from segment.Mark) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		n, end := from.N, h.End().N
		if n == end {
			return
		}
		for raw, err := range h.RawLines(ctx, from.Offset) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(h.Leaving(n, raw), nil) {
				return
			}
			if n++; n == end {
				return
			}
		}
		yield(nil, ErrMoved)
	}
}

// RawLines yields the whole lines of the file from an offset on, as they are in the file.
// Each is valid until the sync reads on, be it another file. The file is closed whenever
// a line is yielded.
func (s *Source) RawLines(ctx context.Context, offset int64) iter.Seq2[[]byte, error] {
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
func (s *Source) part(ctx context.Context, offset int64) (data []byte, err error) {
	err = s.Core.Read(ctx, s.ID, func(dir *sessiondir.Dir) error {
		f, _, err := dir.Open(s.Name)
		if err != nil {
			return err
		}
		data, _, err = s.Window.Lines(ctx, f, offset)
		return errors.Join(err, f.Close())
	})
	return data, err
}

// First yields the first n lines.
func First(n int64, lines iter.Seq2[[]byte, error]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		left := n
		for line, err := range lines {
			if left--; !yield(line, err) || left == 0 {
				return
			}
		}
	}
}

// Shared returns the number of first lines that the file has in common with spans that
// begin where its stream does.
func (h *Chain) Shared(ctx context.Context, spans []segment.Span) (int64, error) {
	if len(spans) == 0 {
		return 0, nil
	}
	return segment.Common(spans, h.End().N, func(n int64) (segment.Hash, error) {
		m, ok, err := h.Mark(ctx, n)
		if err == nil && !ok {
			err = ErrMoved
		}
		return m.Hash, err
	})
}

// ErrMoved is returned when a file has changed since its scan.
var ErrMoved = errors.New("file changed meanwhile")

// Gone turns the error for a session that vanishes while it is read into a reason to scan
// again.
func Gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	return err
}
