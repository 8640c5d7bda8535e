//go:build !windows

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"

	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// temp is a file that waits for its name.
type temp struct {
	dir     *Dir
	pending *renameio.PendingFile
}

func (t *temp) file() *os.File { return t.pending.File }
func (t *temp) name() string   { return filepath.Base(t.pending.Name()) }

func (t *temp) close() error { return t.pending.File.Close() }

// discard removes the file. That it could not is no more worth telling than
// the failure before it: leftovers are cleaned by age.
func (t *temp) discard() {
	_ = t.close()
	_ = t.dir.seam.Do(t.dir.op(fault.Remove, t.name(), ""), t.pending.Cleanup)
}

func (d *Dir) create(name string) (*temp, error) {
	t := &temp{dir: d}
	err := d.seam.Create(d.op(fault.Create, "", ""), func() (string, error) {
		pending, err := renameio.NewPendingFile(name, renameio.WithRoot(d.root), renameio.WithStaticPermissions(Mode))
		if err != nil {
			return "", err
		}
		t.pending = pending
		return t.name(), nil
	})
	return t, err
}

// commit gives t its name. renameio syncs the content before it renames, so
// the sync is only announced here; without sync the name is given by hand.
func (d *Dir) commit(t *temp, name string, sync bool) error {
	tmp := t.name()
	if !sync {
		return errors.Join(d.Rename(tmp, name), t.pending.Close())
	}
	if err := d.seam.Do(d.op(fault.Sync, tmp, ""), func() error { return nil }); err != nil {
		return err
	}
	return d.seam.Do(d.op(fault.Rename, tmp, name), t.pending.CloseAtomicallyReplace)
}

// syncNames syncs the directory. A file system that has no such thing keeps
// names as durable as it can by itself.
func (d *Dir) syncNames() error {
	self, err := d.Handle()
	if err != nil {
		return err
	}
	err = self.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
