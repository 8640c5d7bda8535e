package sessiondir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// mostReady is the number of directories of sessions that stay open between writes.
const mostReady = 8

// ForWrite opens the directory of session id as [Base.Dir] does, with its handle, by which
// files are opened, and its Place. It returns the directory that [Base.Keep] left open, if
// the session's name still leads to that.
func (b *Base) ForWrite(id string) (*Dir, error) {
	path := filepath.Join(b.path, id)
	b.mu.Lock()
	var d *Dir
	if i := slices.IndexFunc(b.ready, func(d *Dir) bool { return d.path == path }); i >= 0 {
		d = b.ready[i]
		b.ready = slices.Delete(b.ready, i, i+1)
	}
	b.mu.Unlock()
	if d != nil {
		if now, err := os.Lstat(path); err == nil && d.StampIn(now).SameFile(d.Place) {
			return d, nil
		}
		_ = d.Close() // nothing waits to be written
	}
	d, err := b.Dir(id)
	if err != nil {
		return nil, err
	}
	self, err := d.Handle()
	if err == nil {
		d.Place, err = d.StampOf(self)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Keep leaves d, which [Base.ForWrite] opened, open for the next write of the session. It
// closes the directory that has not been used for the longest time, if there are too many.
// It closes d where the system may not tell whether the name still leads to it.
func (b *Base) Keep(d *Dir) error {
	if !d.Local() {
		return d.Close()
	}
	b.mu.Lock()
	b.ready = append(b.ready, d)
	d = nil
	if len(b.ready) > mostReady {
		d = b.ready[0]
		b.ready = slices.Delete(b.ready, 0, 1)
	}
	b.mu.Unlock()
	if d == nil {
		return nil
	}
	return d.Close()
}
