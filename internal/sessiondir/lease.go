package sessiondir

import (
	"errors"
	"io/fs"
	"os"

	"github.com/amplifier-go/sessionstorage/internal/vfs"
	"github.com/amplifier-go/sessionstorage/internal/seam"
)

// Lease runs take, which takes a lease on the file name. Nothing on the disk
// changes, but other programs that open the file wait until [Dir.Release].
func (d *Dir) Lease(name string, take func() error) error {
	return d.seam.Do(seam.Op{Kind: seam.Lease, Dir: d.Root().Name(), Name: name}, take)
}

// Release runs drop, which gives a lease on the file name up. A seam cannot
// refuse it.
func (d *Dir) Release(name string, drop func()) {
	op := seam.Op{Kind: seam.Release, Dir: d.Root().Name(), Name: name}
	if err := d.seam.Do(op, func() error { drop(); return nil }); err != nil {
		drop()
	}
}

// Local reports whether the directory is on a local file system, so that the
// kernel knows every program that has one of its files open.
func (d *Dir) Local() bool {
	d.local.once.Do(func() {
		in, err := d.Handle()
		d.local.is = err == nil && vfs.IsLocal(in)
	})
	return d.local.is
}

// Exchanges reports whether an exchange of names is worth a try.
func (d *Dir) Exchanges() bool { return d.Local() && !d.noExchange.Load() }

// NoExchange notes that an exchange of names failed with err. No other is tried
// in this sessions directory if err says that its file system has none. Any other
// error may be of this file and this moment alone.
func (d *Dir) NoExchange(err error) {
	if errors.Is(err, errors.ErrUnsupported) {
		d.noExchange.Store(true)
	}
}

// StampOf returns the stamp of an open file.
func (d *Dir) StampOf(f *os.File) (Stamp, error) {
	fi, err := f.Stat()
	if err != nil {
		return Stamp{}, err
	}
	return d.StampIn(fi), nil
}

// StampIn returns the stamp in what the system tells of a file.
func (d *Dir) StampIn(fi fs.FileInfo) Stamp { return d.stamp(fi) }
