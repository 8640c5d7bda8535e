package foreign

import (
	"bytes"
	"errors"
	"io"
)

// window is how much of a file is read at once.
const window = 256 << 10

// input reads lines of a file at any place. It holds one line in memory, and what
// it read around it.
type input struct {
	f    io.ReaderAt
	size int64
	buf  []byte
	at   int64 // where buf begins
}

func newInput(f io.ReaderAt, size int64) *input { return &input{f: f, size: size} }

// line returns the line that begins at offset. Its bytes are valid until the next
// call. The error Is ErrChanged when the file is shorter than it was.
func (in *input) line(offset int64) ([]byte, error) {
	for length := int64(window); ; length *= 2 {
		if offset >= in.at && offset < in.at+int64(len(in.buf)) {
			rest := in.buf[offset-in.at:]
			if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				return rest[:i], nil
			}
			if in.at+int64(len(in.buf)) >= in.size {
				return rest, nil
			}
		}
		if err := in.fill(offset, length); err != nil {
			return nil, err
		}
	}
}

func (in *input) fill(offset, length int64) error {
	length = min(length, in.size-offset)
	if length <= 0 {
		return ErrChanged
	}
	if int64(cap(in.buf)) < length || cap(in.buf) > 4*window && length <= window {
		in.buf = make([]byte, length)
	}
	in.buf, in.at = in.buf[:length], offset
	n, err := in.f.ReadAt(in.buf, offset)
	if errors.Is(err, io.EOF) && int64(n) < length {
		err = ErrChanged
	}
	if int64(n) == length {
		err = nil
	}
	if err != nil {
		in.buf = in.buf[:0]
	}
	return err
}
