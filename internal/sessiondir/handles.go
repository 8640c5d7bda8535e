package sessiondir

import (
	"context"
	"errors"
	"runtime"

	"github.com/amplifier-go/sessionstorage/internal/filelock"
)

// Handles keep what the writers of one session need open between their calls:
// its lock file and its directory. Both are still asked for by name at every
// call, so what others removed or replaced is noticed. They are for one
// writer at a time.
type Handles struct {
	base *Base
	id   string
	lock filelock.Keep
	dir  *Dir  // nil: not open
	is   Stamp // of dir
}

// keepsHandles tells that an open directory keeps nobody from renaming or removing
// it, and that it can be told from another cheaply.
const keepsHandles = runtime.GOOS == "linux"

// Handles returns the handles for writers of session id. It opens nothing yet.
func (b *Base) Handles(id string) *Handles { return &Handles{base: b, id: id} }

// Lock is [Base.Lock].
func (s *Handles) Lock(ctx context.Context) (*filelock.Lock, error) {
	if !keepsHandles {
		return s.base.lock(ctx, s.id, nil)
	}
	return s.base.lock(ctx, s.id, &s.lock)
}

// Dir is [Base.Dir] for the holder of the lock; the directory must be closed
// by [Dir.Leave].
func (s *Handles) Dir() (*Dir, error) {
	if s.dir != nil && s.base.leads(s.id, s.is) { // the base was found at its path when the lock was taken
		return s.dir, nil
	}
	if err := s.leave(); err != nil {
		return nil, err
	}
	d, err := s.base.Dir(s.id)
	if err != nil || !keepsHandles {
		return d, err
	}
	is, err := d.Stat(".")
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	d.kept, d.is = true, is
	s.dir, s.is = d, is
	return d, nil
}

func (s *Handles) leave() error {
	if s.dir == nil {
		return nil
	}
	err := s.dir.Close()
	s.dir, s.is = nil, Stamp{}
	return err
}

// Close closes what is open. The handles can be used again.
func (s *Handles) Close() error { return errors.Join(s.leave(), s.lock.Close()) }

// Descriptors returns how many files are open, the lock's and the directory's.
func (s *Handles) Descriptors() int {
	n := s.lock.Descriptors()
	if s.dir != nil {
		n += s.dir.Descriptors()
	}
	return n
}

// Place returns the stamp of the directory itself, of which the size and the
// times may be older.
func (d *Dir) Place() (Stamp, error) {
	if d.kept {
		return d.is, nil
	}
	return d.Stat(".")
}

// Leave closes the directory unless a [Handles] keeps it.
func (d *Dir) Leave() error {
	if d.kept {
		return nil
	}
	return d.Close()
}
