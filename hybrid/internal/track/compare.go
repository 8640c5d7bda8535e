package track

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Compare follows the lines of h as long as they are the lines that were sent.
func (h *Chain) Compare(ctx context.Context, lines iter.Seq2[[]byte, error]) (*Compared, error) {
	sent := &Compared{Chain: &Chain{Source: h.Source}}
	next, stop := iter.Pull2(h.RawLines(ctx, h.Start))
	defer stop()
	for theirs, err := range lines {
		if err != nil {
			return nil, err
		}
		line, err, ok := next()
		if err != nil {
			return nil, Gone(err)
		}
		if !ok || !sent.alike(theirs, line) && !isFormOf(theirs, line) {
			break
		}
		sent.Add(sent.N, line, func(int64, []byte) ([]byte, bool) { return theirs, true })
		sent.N++
	}
	return sent, nil
}

// Todays returns the forms that today's rules give to the first n lines of h, made of the
// forms in which they were sent.
func (h *Chain) Todays(ctx context.Context, n int64) (*Compared, error) {
	sent := &Compared{Chain: &Chain{Source: h.Source}}
	for line, err := range h.RawLines(ctx, h.Start) {
		if err != nil || sent.N >= n {
			return sent, Gone(err)
		}
		sent.Add(sent.N, line, func(int64, []byte) ([]byte, bool) { return h.Today(h.Leaving(sent.N, line)), true })
		sent.N++
	}
	return sent, nil
}

// In returns h again, with lines in other forms.
func (h *Chain) In(ctx context.Context, sent *Compared) (*Chain, error) {
	next, err := h.Scan(ctx, sent.FormsOf(), false)
	if err == nil && !next.File.SameContent(h.File) {
		err = ErrMoved
	}
	return next, Gone(err)
}

// Compared is the lines here that are on a history in the cloud: N lines, with their
// forms.
type Compared struct {
	*Chain
	N int64
}

// alike reports whether today's rules give a line here the same form as a line that was
// sent.
func (s *Source) alike(sent, line []byte) bool {
	image := s.Today(line)
	return bytes.Equal(sent, image) || bytes.Equal(s.Today(sent), image)
}

// marker is the beginning of the text that replaces a secret; see package redact.
var marker = []byte("[redacted:")

// longestKind is the greatest length of the rest of a marker.
const longestKind = 64

// isFormOf reports whether sent can be the result of rules on a line: the same bytes,
// with markers in the place of some.
func isFormOf(sent, line []byte) bool {
	first := true
	for {
		at := bytes.Index(sent, marker)
		if at < 0 {
			if first {
				return bytes.Equal(sent, line)
			}
			return bytes.HasSuffix(line, sent)
		}
		piece := sent[:at]
		end := bytes.IndexByte(sent[at:min(len(sent), at+len(marker)+longestKind)], ']')
		if end < 0 {
			return false
		}
		found := bytes.Index(line, piece)
		if found < 0 || first && found != 0 {
			return false
		}
		line, sent, first = line[found+len(piece):], sent[at+end+1:], false
	}
}

// Window reads the whole lines of a file part by part. It holds readBytes, or
// the longest line when that is longer.
type Window struct{ buf []byte }

// readBytes is the number of bytes that are read at once.
const readBytes = 1 << 20

// Lines returns whole lines of f from an offset on, with their LFs: the lines within
// readBytes, or one longer line. At the end there are none, and torn reports whether
// there is an unfinished line. The bytes are valid until the next call.
func (w *Window) Lines(ctx context.Context, f io.ReadSeeker, offset int64) (lines []byte, torn bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end <= offset {
		return nil, false, err
	}
	n := int(min(end-offset, readBytes))
	if err := w.read(f, offset, 0, n); err != nil {
		return nil, false, err
	}
	if whole := bytes.LastIndexByte(w.buf[:n], '\n') + 1; whole > 0 {
		return w.buf[:whole], false, nil
	}
	if n < readBytes {
		return nil, true, nil
	}
	size, err := lineEnd(ctx, f, n)
	if err != nil || size == 0 {
		return nil, err == nil, err
	}
	if err := w.read(f, offset, n, size); err != nil {
		return nil, false, err
	}
	return w.buf[:size], false, nil
}

// read fills the buffer from one place to another with the bytes of f behind offset, and
// keeps the bytes before.
func (w *Window) read(f io.ReadSeeker, offset int64, from, to int) error {
	if len(w.buf) < to {
		larger := make([]byte, to)
		copy(larger, w.buf[:from])
		w.buf = larger
	}
	if _, err := f.Seek(offset+int64(from), io.SeekStart); err != nil {
		return err
	}
	_, err := io.ReadFull(f, w.buf[from:to])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it became shorter", ErrMoved)
	}
	return err
}

// lineEnd reads on behind the first n bytes of a line and returns its length with its LF;
// 0 when it has none.
func lineEnd(ctx context.Context, f io.Reader, n int) (int, error) {
	part := make([]byte, 64<<10)
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		got, err := f.Read(part)
		if i := bytes.IndexByte(part[:got], '\n'); i >= 0 {
			return n + i + 1, nil
		}
		n += got
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
