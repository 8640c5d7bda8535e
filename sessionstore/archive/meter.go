package archive

import (
	"context"
	"io"
)

// toldEach is the number of bytes after which Progress is called again.
const toldEach = 1 << 20

// meter counts what a call has done and tells the caller.
type meter struct {
	Progress
	tell func(Progress) // may be nil
	told int64          // bytes, at the last call of tell
}

func (m *meter) file()    { m.Files++; m.report() }
func (m *meter) session() { m.Sessions++; m.report() }

func (m *meter) bytes(n int) {
	if m.Bytes += int64(n); m.Bytes-m.told >= toldEach {
		m.report()
	}
}

func (m *meter) report() {
	m.told = m.Bytes
	if m.tell != nil {
		m.tell(m.Progress)
	}
}

// meteredWriter counts what is written.
type meteredWriter struct {
	io.Writer
	meter *meter
}

func (w meteredWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.meter.bytes(n)
	return n, err
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	in  io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(b)
}

// contextWriter ends with its context.
type contextWriter struct {
	ctx context.Context
	out io.Writer
}

func (w contextWriter) Write(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.out.Write(b)
}
