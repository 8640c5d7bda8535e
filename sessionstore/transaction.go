package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// transaction is one call that writes a session while it holds the session's locks. An
// attempt has the session's directory, or a new directory, which no other program sees
// yet. Each file that it writes appears whole, at once. The commit makes the names of the
// files durable, if the store is durable, and lets a new session appear. A new directory
// that is not committed is removed.
type transaction struct {
	st    *Store
	ctx   context.Context
	op    string // as errors and the observer name the call; "": it is part of another one
	id    string
	mode  writeMode
	start time.Time // zero without an observer

	// The locks that the call holds.
	s         *session
	entered   bool       // it is the one call of this store that writes the session
	workspace *ownerLock // of the session's workspace; nil: there is none
	lock      *lock.Lock // of the session
	here      *ownerLock // of the session in this directory; nil: there is none

	// The attempt.
	tried        bool            // there was one
	dir          *sessiondir.Dir // nil between two attempts
	created      bool            // the directory is new
	namesChanged bool            // the commit must sync the directory
	wrote        []string        // base names of the files, in order
}

// writeMode is the set of requirements of a write.
type writeMode uint8

const (
	creates writeMode = 1 << iota // a session that does not exist is made; without it the write fails with ErrNotFound
	owns                          // the ownership lock: only the owner of a session may change its transcript
	removes                       // the ownership lock where a host has ever run the session, and no file of it open
)

// has reports whether the directory has an entry of that name, or may have one.
func (tx *transaction) has(name string) bool {
	_, err := tx.dir.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// sync reports whether content is synced before it takes its name.
func (tx *transaction) sync() bool { return tx.st.opts.Durability != Relaxed }

// commit makes the names that changed durable, if the store is durable, and lets a new
// session appear.
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

// syncParent makes the name of the session's directory durable, once for each directory.
// The program that made the directory may not have synced it: a process that was killed,
// or a Python tool, which syncs nothing.
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

// replace gives name new content, and does so once more when another program wrote into
// the file in between.
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

// noteRename notes that name now belongs to another file.
func (tx *transaction) noteRename(name string) {
	tx.namesChanged = true
	tx.wrote = append(tx.wrote, name)
}

// openDir opens the directory of the session, or makes a new directory, which no other
// program sees yet.
func (tx *transaction) openDir() (err error) {
	tx.created = false
	tx.dir, err = tx.st.base.Dir(tx.id)
	if tx.st.relieved(err) {
		tx.dir, err = tx.st.base.Dir(tx.id)
	}
	switch {
	case err == nil:
		_, err = tx.dir.Handle() // files are opened by way of the handle
		return err
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case tx.mode&creates != 0:
		tx.dir, tx.created, err = tx.st.base.Make(tx.id)
		return err
	}
	return notFound(tx.id)
}
