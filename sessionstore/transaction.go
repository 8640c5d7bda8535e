package sessionstore

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// transaction is one call that writes a session while it holds the session's
// lock. It begins with the session's directory, or with a new one that nobody
// sees yet. Each file that it writes appears whole, at once. The commit makes the
// names of the files durable, where the store promises that, and lets a new
// session appear. A new directory that is not committed is removed.
type transaction struct {
	st           *Store
	s            *session
	id           string
	dir          *sessiondir.Dir
	created      bool     // the directory is new
	namesChanged bool     // the commit must sync the directory
	wrote        []string // base names of the files, in order
}

// begin opens the session's directory.
func (tx *transaction) begin(mode openMode) (err error) {
	tx.dir, tx.created, err = tx.st.openForWrite(tx.id, mode)
	return err
}

// end closes the directory, and removes a new one that was not committed.
func (tx *transaction) end() error {
	var err error
	if tx.created {
		err = tx.st.base.Abandon(tx.dir)
	}
	return joinErrors(err, tx.dir.Close())
}

// has reports whether anything has the name, or may have it.
func (tx *transaction) has(name string) bool {
	_, err := tx.dir.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// sync reports whether content is synced before it takes its name.
func (tx *transaction) sync() bool { return tx.st.opts.Durability != Relaxed }

// commit makes the names that changed durable, where the store promises that,
// and lets a new session appear.
func (tx *transaction) commit() error {
	if tx.created {
		return tx.publish()
	}
	if !tx.sync() || len(tx.wrote) == 0 && !tx.namesChanged {
		return nil
	}
	if tx.namesChanged {
		if err := tx.syncNames(); err != nil {
			return err
		}
		tx.s.nameSynced = tx.s.cachedMain()
	}
	return tx.syncParent()
}

func (tx *transaction) publish() error {
	place, err := tx.dir.Stat(".")
	if err != nil {
		return err
	}
	if err := tx.st.base.Publish(tx.dir, tx.sync()); err != nil {
		return err
	}
	if tx.sync() {
		tx.s.parentSynced, tx.s.nameSynced = place, tx.s.cachedMain()
	}
	return nil
}

// syncNames makes the names in the session's directory durable.
func (tx *transaction) syncNames() error {
	if err := tx.dir.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}

// syncParent makes the name of the session's directory durable, once for each
// directory. Whoever made the directory may not have done it: a process that was
// killed, or a Python tool, which syncs nothing.
func (tx *transaction) syncParent() error {
	place, err := tx.dir.Stat(".")
	if err != nil || place.SameFile(tx.s.parentSynced) {
		return err
	}
	if err := tx.st.base.Sync(); err != nil {
		return fmt.Errorf("sync sessions directory: %w", err)
	}
	tx.s.parentSynced = place
	return nil
}

// file returns the file name for the change of its content.
func (tx *transaction) file(name string) commit.File {
	return commit.File{Dir: tx.dir, Name: name, Sync: tx.sync()}
}

// replace gives name new content, and again when another program wrote into it
// meanwhile.
func (tx *transaction) replace(name string, r commit.Replacement) (commit.Result, error) {
	done, err := tx.file(name).Replace(r)
	if errors.Is(err, commit.ErrOverwritten) {
		r.Rotate = func() (bool, error) { return false, nil }
		done, err = tx.file(name).Replace(r)
	}
	switch {
	case err != nil:
	case r.Relaxed:
		tx.wrote = append(tx.wrote, name)
	default:
		tx.noteRename(name)
	}
	return done, err
}

// noteRename notes that name leads to another file.
func (tx *transaction) noteRename(name string) {
	tx.namesChanged = true
	tx.wrote = append(tx.wrote, name)
}

// openMode tells what a write does when its session does not exist.
type openMode uint8

const (
	openOrCreate openMode = iota // it creates the session
	openExisting                 // it fails with ErrNotFound
)

// checkExists fails where mode needs a session that does not exist. Callers ask
// before they take a lock, since that would leave a lock file behind.
func (st *Store) checkExists(id string, mode openMode) error {
	if mode != openExisting {
		return nil
	}
	has, err := st.base.Find(id)
	if err == nil && !has {
		err = notFound(id)
	}
	return err
}

// openForWrite opens the directory of a session for writing. created reports
// whether the directory is new, so that nobody sees it yet.
func (st *Store) openForWrite(id string, mode openMode) (dir *sessiondir.Dir, created bool, err error) {
	dir, err = st.base.Dir(id)
	if st.relieved(err) {
		dir, err = st.base.Dir(id)
	}
	switch {
	case err == nil:
		if _, err := dir.Handle(); err != nil { // files are looked at by way of it
			return nil, false, joinErrors(err, dir.Close())
		}
		return dir, false, nil
	case !errors.Is(err, fs.ErrNotExist):
		return dir, false, err
	case mode == openOrCreate:
		return st.base.Make(id)
	}
	return nil, false, notFound(id)
}
