package hybrid

import (
	"bytes"
	"context"
	"errors"
	"io"
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
		t.Add(raw, h.leaving(raw))
		if t.Mark().N == n {
			return t.Mark(), true, nil
		}
	}
	return segment.Mark{}, false, errMoved
}

// errMoved tells that a file is not what it was when it was looked at.
var errMoved = errors.New("file changed meanwhile")

// has reports whether p is on the history.
func (h *history) has(ctx context.Context, p segment.Point) (bool, error) {
	m, ok, err := h.mark(ctx, p.N)
	return ok && m.Hash == p.Hash, err
}

// lines yields the lines behind a mark as they leave, up to the end that look
// found. The file is closed whenever a line is yielded.
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
			if !yield(h.leaving(raw), nil) {
				return
			}
			if n++; n == end {
				return
			}
		}
		yield(nil, errMoved)
	}
}

// readBytes is how much is read at once.
const readBytes = 1 << 20

// raw yields the whole lines of the file from an offset on, as they lie there.
func (s *source) raw(ctx context.Context, offset int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for size := int64(readBytes); ; {
			data, err := s.part(ctx, offset, size)
			if err != nil {
				yield(nil, err)
				return
			}
			whole := bytes.LastIndexByte(data, '\n') + 1
			if whole == 0 && int64(len(data)) < size {
				return // the end, or a line that is not finished
			}
			if whole == 0 {
				size *= 2
				continue
			}
			for line := range jsonl.Lines(data[:whole]) {
				if !yield(line.Bytes, nil) {
					return
				}
			}
			offset, size = offset+int64(whole), readBytes
		}
	}
}

// part reads size bytes from an offset on, or what there is.
func (s *source) part(ctx context.Context, offset, size int64) (data []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = s.in.Read(ctx, s.id, func(dir *sessiondir.Dir) error {
		f, _, err := dir.Open(s.name)
		if err != nil {
			return err
		}
		if _, err := f.Seek(offset, io.SeekStart); err != nil {
			return errors.Join(err, f.Close())
		}
		data, err = io.ReadAll(io.LimitReader(f, size))
		return errors.Join(err, f.Close())
	})
	return data, err
}
