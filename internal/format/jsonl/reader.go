package jsonl

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

const bufferSize = 256 << 10

// Reader reads lines from a stream. It holds one line in memory.
type Reader struct {
	src    *bufio.Reader
	long   []byte // a line longer than the buffer of src
	number int
	offset int64
}

// NewReader returns a Reader of the lines of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{src: bufio.NewReaderSize(r, bufferSize)}
}

// Next returns the next line, whose bytes are valid until the next call, and io.EOF after
// the last line. The error Is [limits.ErrTooLarge] for a line that does not fit into
// memory.
func (r *Reader) Next() (Line, error) {
	r.long = r.long[:0]
	for {
		part, err := r.src.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			r.long = append(r.long, part...)
			if err := limits.Check(int64(len(r.long))); err != nil {
				return Line{}, fmt.Errorf("line %d, offset %d: %w", r.number+1, r.offset, err)
			}
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return Line{}, err
		}
		if len(r.long) > 0 {
			r.long = append(r.long, part...)
			part = r.long
		}
		return r.line(part, err == nil)
	}
}

func (r *Reader) line(raw []byte, ended bool) (Line, error) {
	if len(raw) == 0 {
		return Line{}, io.EOF
	}
	r.number++
	l := Line{Bytes: raw, Number: r.number, Offset: r.offset, Ended: ended}
	r.offset += int64(len(raw))
	if ended {
		l.Bytes = raw[:len(raw)-1]
	}
	return l, nil
}
