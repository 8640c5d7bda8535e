package slice

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/zeebo/xxh3"
)

const copyBlock = 256 << 10

// copyLines copies r to w. It reports whether r is empty or ends with a line
// break.
func copyLines(ctx context.Context, w io.Writer, r io.Reader) (ended bool, err error) {
	ended = true
	buf := make([]byte, copyBlock)
	for {
		if err := ctx.Err(); err != nil {
			return ended, err
		}
		n, err := r.Read(buf)
		if n > 0 {
			ended = buf[n-1] == '\n'
			if _, err := w.Write(buf[:n]); err != nil {
				return ended, err
			}
		}
		if errors.Is(err, io.EOF) {
			return ended, nil
		}
		if err != nil {
			return ended, err
		}
	}
}

// loggedSince returns the offset of the first line of the log now that was
// logged after now was cut out of old. It is the first line that old does not
// have, or has only before the lines that were met already. more reports
// whether there is such a line.
func loggedSince(ctx context.Context, old, now io.Reader) (from int64, more bool, err error) {
	a, b := newSums(old), newSums(now)
	for {
		from = b.offset
		line, ok, err := b.next(ctx)
		if err != nil || !ok {
			return from, false, err
		}
		for {
			other, ok, err := a.next(ctx)
			if err != nil || !ok {
				return from, true, err
			}
			if other == line {
				break
			}
		}
	}
}

// sums reads a log line by line and returns a hash of each line, without the
// white space around it. It leaves out blank lines. Lines may be of any length.
type sums struct {
	r      *bufio.Reader
	offset int64 // of what comes next
}

func newSums(r io.Reader) *sums { return &sums{r: bufio.NewReaderSize(r, copyBlock)} }

// next returns the hash of the next line. ok is false behind the last line.
func (s *sums) next(ctx context.Context) (sum xxh3.Uint128, ok bool, err error) {
	h := xxh3.New()
	for begun := false; ; {
		if err := ctx.Err(); err != nil {
			return sum, false, err
		}
		piece, err := s.r.ReadSlice('\n')
		s.offset += int64(len(piece))
		end := err == nil || errors.Is(err, io.EOF)
		if !end && !errors.Is(err, bufio.ErrBufferFull) {
			return sum, false, err
		}
		if !begun {
			piece = bytes.TrimLeft(piece, " \t\r\n")
		}
		if end {
			piece = bytes.TrimRight(piece, " \t\r\n")
		}
		begun = begun || len(piece) > 0
		h.Write(piece) // never fails
		switch {
		case end && begun:
			return h.Sum128(), true, nil
		case errors.Is(err, io.EOF):
			return sum, false, nil
		}
	}
}
