package atomicfile

import (
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/seam"
	"github.com/amplifier-go/sessionstorage/internal/sharing"
)

// An Edit is a file that is open to be changed in place. No reader may take
// it for the truth meanwhile.
type Edit struct {
	dir  *Dir
	name string
	file *os.File

	synced chan error // of a sync that was begun; nil: none was
}

// Edit opens the existing file name to be changed in place.
func (d *Dir) Edit(name string) (*Edit, error) {
	f, err := d.open(name, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	return &Edit{dir: d, name: name, file: f}, nil
}

// File returns the open file for reading and for asking about it.
func (e *Edit) File() *os.File { return e.file }

// Close closes the file. It waits for a sync that was begun.
func (e *Edit) Close() error {
	if e.synced != nil {
		<-e.synced
	}
	return e.file.Close()
}

// WriteAt writes p at offset off in one call.
func (e *Edit) WriteAt(p []byte, off int64) error {
	op := e.dir.op(seam.Write, e.name, "")
	op.Off, op.Data = off, p
	return e.dir.seam.Write(op, func(b []byte) error {
		return sharing.Wait(func() error { // all of it again, to the same place
			_, err := e.file.WriteAt(b, off)
			return err
		})
	})
}

// Truncate cuts the file to size bytes.
func (e *Edit) Truncate(size int64) error {
	op := e.dir.op(seam.Truncate, e.name, "")
	op.Off = size
	return e.dir.change(op, func() error { return e.file.Truncate(size) })
}

// StartSync begins a sync, for which Sync waits.
func (e *Edit) StartSync() {
	e.synced = make(chan error, 1)
	go func() { e.synced <- e.file.Sync(); close(e.synced) }()
}

// Sync makes the file's content and times durable.
func (e *Edit) Sync() error {
	return e.dir.seam.Do(e.dir.op(seam.Sync, e.name, ""), func() error {
		if e.synced != nil {
			return <-e.synced
		}
		return e.file.Sync()
	})
}

// BeginSync lets the system begin to bring what was written from off on to the
// disk, and does not wait for it.
func (e *Edit) BeginSync(off int64) { beginSync(e.file, off, wholeFile) }

// SetTime sets the time of the last change.
func (e *Edit) SetTime(at time.Time) error { return e.dir.SetTime(e.name, at) }
