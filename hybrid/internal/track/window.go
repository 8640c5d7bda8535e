package track

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// Window reads the whole lines of a file part by part. It holds readBytes, or
// the longest line when that is longer.
type Window struct{ buf []byte }

// readBytes is how much is read at once.
const readBytes = 1 << 20

// Lines returns whole lines of f from an offset on, with their LFs: those that
// readBytes hold, or one that is longer. At the end there are none, and torn
// tells whether a line stands there that is not finished. The bytes are valid
// until the next call.
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

// read fills the buffer from one place to another with what stands in f behind
// offset, and keeps what is before.
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

// lineEnd reads on behind the first n bytes of a line and returns how long it
// is with its LF; 0 when it has none.
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
