package sessiondir

import (
	"errors"
	"os"

	"github.com/amplifier-go/sessionstorage/internal/vfs"
	"github.com/amplifier-go/sessionstorage/internal/seam"
)

// SyncFile makes the content of the file name durable, whoever wrote it. What is
// not there, or no regular file, or may not be opened, is passed over.
func (d *Dir) SyncFile(name string) error {
	f, _, err := vfs.Open(d.Root(), name, os.O_RDWR)
	if err != nil {
		return nil //nolint:nilerr // made by others so that it cannot be synced
	}
	op := seam.Op{Kind: seam.Sync, Dir: d.Root().Name(), Name: name}
	return errors.Join(d.seam.Do(op, f.Sync), f.Close())
}
