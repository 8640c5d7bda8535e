package eventslog

import (
	"errors"
	"io"
)

// output writes to dst in blocks.
type output struct {
	dst io.Writer
	buf []byte // not yet written; its capacity is a block
}

func newOutput(dst io.Writer) *output {
	return &output{dst: dst, buf: make([]byte, 0, blockSize)}
}

// text writes p.
func (o *output) text(p []byte) error {
	for len(p) > 0 {
		n := copy(o.free(), p)
		p = p[n:]
		if err := o.took(n); err != nil {
			return err
		}
	}
	return nil
}

// copy writes what src has between two offsets. The error is
// io.ErrUnexpectedEOF when src is shorter.
func (o *output) copy(src io.ReaderAt, from, to int64) error {
	for from < to {
		free := o.free()
		n, err := src.ReadAt(free[:min(to-from, int64(len(free)))], from)
		from += int64(n)
		if werr := o.took(n); werr != nil {
			return werr
		}
		if errors.Is(err, io.EOF) && from < to {
			return io.ErrUnexpectedEOF
		}
		if err != nil && from < to {
			return err
		}
	}
	return nil
}

// free returns the free part of the block, which is never empty.
func (o *output) free() []byte { return o.buf[len(o.buf):cap(o.buf)] }

// took takes n bytes of the free part, and writes the block when it is full.
func (o *output) took(n int) error {
	o.buf = o.buf[:len(o.buf)+n]
	if len(o.buf) < cap(o.buf) {
		return nil
	}
	return o.flush()
}

// flush writes what was not written yet.
func (o *output) flush() error {
	if len(o.buf) == 0 {
		return nil
	}
	n, err := o.dst.Write(o.buf)
	if err == nil && n < len(o.buf) {
		err = io.ErrShortWrite
	}
	o.buf = o.buf[:0]
	return err
}
