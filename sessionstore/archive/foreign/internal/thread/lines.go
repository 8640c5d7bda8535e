package thread

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

// MaxLine is how long a line may be that is read, in bytes. Longer ones are kept in
// the original only.
const MaxLine = 64 << 20

var (
	ErrChanged  = errors.New("what it began with changed during the import")
	errNoObject = errors.New("it is no JSON object")
	errBlank    = errors.New("it is blank")
	errLongLine = errors.New("it is longer than 64 MiB")
)

// LineError is the reason why a line of the tool's file could not be used. It has no text
// of the line.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the reason.
func (e *LineError) Unwrap() error { return e.Err }

// Line is a line of a file.
type Line struct {
	Bytes       []byte // without the end of the line, until the next one; nil where it is too long
	number      int    // from 1
	offset, End int64  // of the line, with its end
	long        bool
}

// LinesOf yields the lines that r reads, also one at the end that does not end, until the
// context ends. It keeps none that is too long.
func LinesOf(ctx context.Context, r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in, buf, l := bufio.NewReaderSize(contextReader{ctx, r}, 64<<10), []byte(nil), Line{number: 1}
		for {
			piece, err := in.ReadSlice('\n')
			l.End += int64(len(piece))
			ended := err == nil
			if ended {
				piece = piece[:len(piece)-1]
			}
			if l.long = l.long || len(buf)+len(piece) > MaxLine; l.long {
				buf = nil
			} else {
				if len(buf)+len(piece) > cap(buf) {
					buf = slices.Grow(buf, max(len(buf), len(piece))) // append grows by a quarter, and copies more often
				}
				buf = append(buf, piece...)
			}
			switch {
			case errors.Is(err, bufio.ErrBufferFull):
				continue
			case errors.Is(err, io.EOF) && l.End == l.offset:
				return
			case !ended && !errors.Is(err, io.EOF):
				yield(l, err)
				return
			}
			if l.Bytes = buf; !yield(l, nil) {
				return
			}
			if l = (Line{number: l.number + 1, offset: l.End, End: l.End}); cap(buf) > 4*Window {
				buf = nil
			}
			buf = buf[:0]
		}
	}
}

// LinesIn yields the lines of a file, also of a compressed one.
func LinesIn(ctx context.Context, path string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		r, size, leave, err := OpenPlain(ctx, path)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer leave()
		LinesOf(ctx, io.NewSectionReader(r, 0, size))(yield)
	}
}

// First returns what parse makes of the first sound line at the beginning of a file.
func First[L any](ctx context.Context, r io.Reader, parse func([]byte) (L, error)) (first L, failed error) {
	for l, err := range LinesOf(ctx, io.LimitReader(r, MaxBeginning)) {
		if err != nil {
			return first, err
		}
		if l, damaged := parse(l.Bytes); damaged == nil {
			return l, nil
		}
	}
	return first, nil
}

// Window is how much of a file is read at once.
const Window = 256 << 10

// input reads lines of a file at any place. It holds one line in memory, and the bytes
// around it from the same read.
type input struct {
	f    io.ReaderAt
	size int64
	buf  []byte
	at   int64 // where buf begins
}

// Line returns the line that begins at offset. Its bytes are valid until the next
// call. The error Is ErrChanged when the file is shorter than it was.
func (in *input) Line(offset int64) ([]byte, error) {
	for length := int64(Window); ; length *= 2 {
		if offset >= in.at && offset < in.at+int64(len(in.buf)) {
			rest := in.buf[offset-in.at:]
			if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				return rest[:i], nil
			}
			if in.at+int64(len(in.buf)) >= in.size {
				return rest, nil
			}
		}
		size := min(length, in.size-offset)
		if size <= 0 {
			return nil, ErrChanged
		}
		if int64(cap(in.buf)) < size || cap(in.buf) > 4*Window && size <= Window {
			in.buf = make([]byte, size)
		}
		in.buf, in.at = in.buf[:size], offset
		if n, err := in.f.ReadAt(in.buf, offset); int64(n) < size {
			in.buf = in.buf[:0]
			if errors.Is(err, io.EOF) {
				err = ErrChanged
			}
			return nil, err
		}
	}
}

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// ReaderUntil returns a reader that fails when the context is done.
func ReaderUntil(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

func (c contextReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}
