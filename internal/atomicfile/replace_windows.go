package atomicfile

import (
	"errors"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// temp is a file that waits for its name.
type temp struct {
	dir    *Dir
	f      *os.File
	base   string
	closed bool
}

func (t *temp) file() *os.File { return t.f }
func (t *temp) name() string   { return t.base }

func (t *temp) close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	return t.f.Close()
}

// discard removes the file; leftovers are cleaned by age.
func (t *temp) discard() {
	_ = t.close()
	_ = t.dir.Remove(t.base)
}

func (d *Dir) create(name string) (*temp, error) {
	t := &temp{dir: d}
	err := d.seam.Create(d.op(fault.Create, "", ""), func() (string, error) {
		for range 1000 {
			t.base = "." + name + strconv.FormatInt(rand.Int64(), 10)
			f, err := d.root.OpenFile(t.base, os.O_RDWR|os.O_CREATE|os.O_EXCL, Mode)
			if errors.Is(err, os.ErrExist) {
				continue
			}
			t.f = f
			return t.base, err
		}
		return "", os.ErrExist
	})
	return t, err
}

func (d *Dir) commit(t *temp, name string, sync bool) error {
	if sync {
		if err := d.seam.Do(d.op(fault.Sync, t.base, ""), t.f.Sync); err != nil {
			return err
		}
	}
	if err := t.close(); err != nil {
		return err
	}
	return d.Rename(t.base, name)
}

func (d *Dir) syncNames() error { return nil }
