package atomicfile

import (
	"os"

	"github.com/amplifier-go/sessionstorage/internal/seam"
)

// writer announces what it writes to a file that is written from its start.
type writer struct {
	dir  *Dir
	file *os.File
	name string
	off  int64
	sync bool  // it will be synced
	sent int64 // what the disk was asked to take, if so
}

// early is how much is worth to be brought to the disk while more is written.
const early = 1 << 20

func (w *writer) Write(p []byte) (int, error) {
	op := w.dir.op(seam.Write, w.name, "")
	op.Off, op.Data = w.off, p
	n := 0
	err := w.dir.seam.Write(op, func(b []byte) (err error) {
		n, err = w.file.Write(b)
		return err
	})
	w.off += int64(n)
	if w.sync && w.off-w.sent >= early {
		beginSync(w.file, w.sent, w.off-w.sent)
		w.sent = w.off
	}
	return n, err
}
