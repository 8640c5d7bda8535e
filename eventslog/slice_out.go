package eventslog

import (
	"errors"
	"io"
	"os"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
)

// maxReserved is how many bytes are reserved at once: what stays reserved in
// vain after an error is no more.
const maxReserved = 4 << 20

// reserver is a file that may be told of the next n bytes.
type reserver interface{ Reserve(n int64) }

// output writes to dst in blocks.
type output struct {
	dst  io.Writer
	room reserver
	buf  []byte // not yet written; its capacity is a block
}

func newOutput(dst io.Writer) *output {
	out := &output{dst: dst, buf: make([]byte, 0, blockSize)}
	switch w := dst.(type) {
	case reserver:
		out.room = w
	case *os.File:
		out.room = atomicfile.NewRoom(w)
	default:
		out.room = (*atomicfile.Room)(nil)
	}
	return out
}

// text writes p.
func (o *output) text(p []byte) error {
	o.room.Reserve(int64(len(p)))
	for len(p) > 0 {
		n := copy(o.buf[len(o.buf):cap(o.buf)], p)
		o.buf, p = o.buf[:len(o.buf)+n], p[n:]
		if err := o.full(); err != nil {
			return err
		}
	}
	return nil
}

// copy writes what src has between two offsets. The error is
// io.ErrUnexpectedEOF when src is shorter.
func (o *output) copy(src io.ReaderAt, from, to int64) error {
	for reserved := from; from < to; {
		if from == reserved {
			n := min(to-from, maxReserved)
			o.room.Reserve(n)
			reserved += n
		}
		have := len(o.buf)
		n, err := src.ReadAt(o.buf[have:have+int(min(int64(cap(o.buf)-have), reserved-from))], from)
		o.buf = o.buf[:have+n]
		from += int64(n)
		if err != nil && (!errors.Is(err, io.EOF) || n == 0) {
			return unexpected(err)
		}
		if err := o.full(); err != nil {
			return err
		}
	}
	return nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// full writes the block when it is full.
func (o *output) full() error {
	if len(o.buf) < cap(o.buf) {
		return nil
	}
	return o.flush()
}

// flush writes what was not written yet.
func (o *output) flush() error {
	n, err := o.dst.Write(o.buf)
	if err == nil && n < len(o.buf) {
		err = io.ErrShortWrite
	}
	o.buf = o.buf[:0]
	return err
}
