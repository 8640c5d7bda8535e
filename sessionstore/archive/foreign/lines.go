package foreign

import (
	"bufio"
	"errors"
	"io"
)

// maxLine is how long a line may be that is read, in bytes. Longer ones are kept in
// the original only.
const maxLine = 64 << 20

var errLongLine = errors.New("it is longer than 64 MiB")

// line is a line of a file.
type line struct {
	bytes  []byte // without the end of the line, until the next call; nil where it is too long
	number int    // from 1
	offset int64
	long   bool
}

// lineReader reads lines, and keeps none that is too long.
type lineReader struct {
	r      *bufio.Reader
	buf    []byte
	number int
	offset int64
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line, also one that does not end, and io.EOF behind the last.
func (l *lineReader) next() (line, error) {
	l.number++
	out := line{number: l.number, offset: l.offset}
	if cap(l.buf) > 4*window {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	for {
		piece, err := l.r.ReadSlice('\n')
		l.offset += int64(len(piece))
		ended := err == nil
		if ended {
			piece = piece[:len(piece)-1]
		}
		if out.long = out.long || len(l.buf)+len(piece) > maxLine; out.long {
			l.buf = nil
		} else {
			l.buf = append(l.buf, piece...)
		}
		switch {
		case errors.Is(err, io.EOF) && l.offset == out.offset:
			return out, io.EOF
		case ended, errors.Is(err, io.EOF):
			out.bytes = l.buf
			return out, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return out, err
		}
	}
}
