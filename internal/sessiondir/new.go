package sessiondir

import (
	"errors"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/staging"
)

// Trash is [staging.Trash].
const Trash = staging.Trash

// Staging returns what moves sessions to the trash and removes them.
func (b *Base) Staging() *staging.Staging { return b.staging }

// Make opens the directory of session id. When there is none, it returns a
// staging directory, and made is true: [Base.Publish] makes that the session's,
// whole, once its files are written, or [Base.Abandon] removes it.
func (b *Base) Make(id string) (d *Dir, made bool, err error) {
	d, err = b.Dir(id)
	if !errors.Is(err, fs.ErrNotExist) {
		return d, false, err
	}
	if err := b.Restore(); err != nil {
		return nil, false, err
	}
	staged, root, err := b.staging.Begin(id)
	if err != nil {
		return nil, false, err
	}
	d = b.dir(root, id)
	d.staged = staged
	return d, true, nil
}

// Publish makes d, which [Base.Make] made, the directory of its session. The
// error is [fs.ErrExist] when there is one by now. With sync it and its files
// keep their names in a power cut. d is closed: Windows does not rename what
// is open.
func (b *Base) Publish(d *Dir, sync bool) error {
	if sync {
		if err := d.Sync(); err != nil {
			return err
		}
	}
	if err := d.Close(); err != nil {
		return err
	}
	return b.staging.Publish(d.staged, sync)
}

// Abandon removes d, which [Base.Make] made, unless it was published.
func (b *Base) Abandon(d *Dir) error { return b.staging.Remove(d.staged) }
