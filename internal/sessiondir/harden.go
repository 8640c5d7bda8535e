package sessiondir

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// Harden makes the content of the file name durable, whoever wrote it. A file
// that is not there, or may not be opened, is passed over.
func (d *Dir) Harden(name string) error {
	f, err := d.Root().OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0) // a pipe would not open
	if err != nil {
		return nil //nolint:nilerr // made by others so that it cannot be synced
	}
	if fi, err := f.Stat(); err != nil || fi.Mode()&fs.ModeType != 0 {
		return errors.Join(err, f.Close())
	}
	op := fault.Op{Kind: fault.Sync, Dir: d.Root().Name(), Name: name}
	return errors.Join(d.seam.Do(op, f.Sync), f.Close())
}
