package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/dirread"
)

// Replace gives name the content that write produces. With sync the content
// is on the disk before the name changes; the name itself is durable after
// [Dir.Sync]. When it fails, name is what it was and no temporary file stays.
//
// The time of the file's last change becomes at; see [Now].
func (d *Dir) Replace(name string, sync bool, at time.Time, write func(io.Writer) error) error {
	p, err := d.Prepare(name, sync, at, write)
	if err != nil {
		return err
	}
	if err := p.Rename(name); err != nil {
		p.Discard()
		return fmt.Errorf("replace %s: %w", name, err)
	}
	return p.Close()
}

// ErrOvertaken tells that another writer, one that honours no lock, changed a
// file while it was about to be replaced.
var ErrOvertaken = errors.New("another writer changed the file")

// Copy makes to a copy of the file name, which may be a symlink, with its
// time. With sync its content is durable.
func (d *Dir) Copy(name, to string, sync bool) error {
	src, fi, err := dirread.Open(d.root, name, os.O_RDONLY)
	if err != nil {
		return err
	}
	err = d.Replace(to, sync, fi.ModTime(), func(w io.Writer) error {
		_, err := io.Copy(w, src)
		return err
	})
	return errors.Join(err, src.Close())
}
