package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// transaction is one call that writes a session while it holds the session's locks. Its
// directory is the session's, or a new directory, which no other program sees yet. Each
// file that it writes appears whole, at once. commit makes the names of the files durable,
// if the store is durable, and lets a new session appear. A new directory that is not
// committed is removed.
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

	// What the call writes.
	dir          *sessiondir.Dir // nil: not open
	created      bool            // the directory is new
	namesChanged bool            // the commit must sync the directory
	wrote        []string        // base names of the files, in order
	committed    bool
	batch        []*queuedAppend // the calls of Append whose messages it writes
	before       int             // the number of messages before theirs
}

// writeMode is the set of requirements of a write.
type writeMode uint8

const (
	creates writeMode = 1 << iota // a session that does not exist is made; without it the write fails with ErrNotFound
	makes                         // the session must not exist yet
	owns                          // the ownership lock: only the owner of a session may change its transcript
	removes                       // the ownership lock where a host has ever run the session, and no file of it open
)

// Every call that writes a session has this form:
//
//	tx, err := st.begin(ctx, op, id, mode)
//	if err != nil {
//		return err
//	}
//	defer tx.end(&err)
//	return tx.commit(tx.…)

// begin starts a write of session id, and opens its directory. Until the write ends, no
// other call of this store, and no tool that takes the session's lock, writes the session.
func (st *Store) begin(ctx context.Context, op, id string, mode writeMode) (*transaction, error) {
	tx, err := st.beginLocked(ctx, op, id, mode)
	if err != nil {
		return nil, err
	}
	if err := tx.open(); err != nil {
		tx.end(&err)
		return nil, err
	}
	return tx, nil
}

// beginLocked is begin for a call that opens no directory yet.
func (st *Store) beginLocked(ctx context.Context, op, id string, mode writeMode) (*transaction, error) {
	tx, err := st.admitWrite(ctx, op, id, mode)
	if err != nil {
		return nil, err
	}
	if err = tx.enter(); err == nil {
		err = tx.acquire()
	}
	if err != nil {
		tx.end(&err)
		return nil, err
	}
	return tx, nil
}

// admitWrite admits a call that writes session id. It waits for nothing yet.
func (st *Store) admitWrite(ctx context.Context, op, id string, mode writeMode) (*transaction, error) {
	tx := &transaction{st: st, ctx: ctx, op: op, id: id, mode: mode, start: st.clock()}
	var err error
	if st.cache.known(id) == nil { // the id of an entry was checked before
		err = checkID(id)
	}
	if err == nil {
		err = st.admit(ctx)
	}
	if err != nil {
		return nil, tx.called(err)
	}
	tx.s = st.cache.call(id)
	return tx, nil
}

// enter waits until no other call of this store writes the session.
func (tx *transaction) enter() error {
	select {
	case tx.s.gate <- struct{}{}:
	case <-tx.ctx.Done():
		return tx.ctx.Err()
	}
	tx.entered = true
	return nil
}

// acquire takes the ownership lock of the workspace, where the mode needs it, and the
// session's lock, which writers share with the Python tools.
func (tx *transaction) acquire() (err error) {
	if err := tx.checkExists(); err != nil {
		return err
	}
	if tx.mode&(owns|removes) != 0 {
		if err := tx.st.locate(tx.s); err != nil {
			return err
		}
		if l := &tx.s.owner.workspace; l.place != nil && (tx.mode&owns != 0 || everTaken(l.place)) {
			if tx.workspace, err = tx.st.own(tx.ctx, tx.s, l); err != nil {
				return err
			}
		}
	}
	if err := tx.checkExists(); err != nil { // another process may have removed it
		return err
	}
	tx.lock, err = tx.st.base.Lock(tx.ctx, tx.id)
	if errors.Is(err, fs.ErrNotExist) { // the sessions directory is gone
		if tx.mode&creates == 0 {
			return notFound(tx.id)
		}
		if err := tx.st.base.Restore(); err != nil {
			return err
		}
		tx.lock, err = tx.st.base.Lock(tx.ctx, tx.id)
	}
	if err != nil {
		return lockError(tx.ctx, err)
	}
	return nil
}

// checkExists returns an error where the write needs a session that does not exist, or a
// new one that does. It is called before a lock is taken, since taking a lock would leave
// a lock file behind.
func (tx *transaction) checkExists() error {
	if tx.mode&makes != 0 && tx.st.base.Has(tx.id) {
		return errExists
	}
	if tx.mode&creates != 0 {
		return nil
	}
	has, err := tx.st.base.Find(tx.id)
	if err == nil && !has {
		err = notFound(tx.id)
	}
	return err
}

// open opens the session's directory, or makes a new one, which no other program sees yet.
// It refuses a session that is being moved to another host and, where the mode needs the
// ownership lock, one that a host runs in this directory.
func (tx *transaction) open() (err error) {
	tx.dir, err = tx.st.base.ForWrite(tx.id)
	switch {
	case err == nil && tx.mode&makes != 0:
		return errExists
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist):
	case tx.mode&creates == 0:
		return notFound(tx.id)
	default:
		tx.dir, tx.created, err = tx.st.base.Make(tx.id)
		err = tx.madeByAnother(err)
	}
	if err != nil {
		return err
	}
	if err := checkFence(tx.dir); err != nil || tx.mode&(owns|removes) == 0 {
		return err
	}
	if err := tx.st.locate(tx.s); err != nil {
		return err
	}
	if l := &tx.s.owner.here; l.place != nil && everTaken(l.place) {
		tx.here, err = tx.st.own(tx.ctx, tx.s, l)
	}
	return err
}

// madeByAnother returns err, the outcome of the making of a session, as the caller knows
// it: another program that takes no lock may have made the session at the same time.
func (tx *transaction) madeByAnother(err error) error {
	switch {
	case !errors.Is(err, fs.ErrExist):
		return err
	case tx.mode&makes != 0:
		return errExists
	}
	return fmt.Errorf("%w: a program that takes no lock made the session at the same time: %w", ErrConflict, err)
}

// checkFence refuses a session that is being moved to another host.
func checkFence(dir *sessiondir.Dir) error {
	_, err := dir.Stat(ownership.FenceName)
	switch {
	case err == nil:
		return ErrFenced
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrFenced, err)
	}
	return nil
}

// close ends the use of the session's directory, if it is open, and removes a new
// directory that was not committed. It returns err joined with its own errors.
func (tx *transaction) close(err error) error {
	if tx.dir == nil {
		return err
	}
	if tx.created {
		err = joinErrors(err, tx.st.base.Abandon(tx.dir))
	}
	if err == nil && tx.committed && !tx.created {
		err = tx.st.base.Keep(tx.dir)
	} else {
		err = joinErrors(err, tx.dir.Close())
	}
	tx.dir = nil
	return err
}

// end ends the write. What was not committed is dropped. end adds the name of the call to
// the error, and reports the call to the observer.
func (tx *transaction) end(err *error) {
	opened := tx.dir != nil
	*err = tx.close(*err)
	if opened && (*err != nil || !tx.committed) {
		tx.s.invalidate()
	}
	if tx.here != nil {
		*err = joinErrors(*err, tx.here.release())
	}
	if tx.lock != nil {
		*err = joinErrors(*err, tx.lock.Unlock())
	}
	if tx.workspace != nil {
		*err = joinErrors(*err, tx.workspace.release())
	}
	for _, a := range tx.batch {
		if a.done, a.err = true, *err; !tx.committed && *err == nil { // a callback of the caller ended the goroutine
			a.err = errNotCommitted
		}
	}
	if tx.entered {
		if tx.mode&removes != 0 { // a later session of that id may have other places
			tx.s.owner.located = false
		}
		<-tx.s.gate // the next call enters
	}
	tx.st.cache.end(tx.s)
	tx.st.calls.Done()
	*err = tx.called(*err)
}

var errNotCommitted = errors.New("the call that wrote it with others ended before it was stored")

// called reports the call to the observer, and returns err with the call's name. A write
// without a name is part of another call.
func (tx *transaction) called(err error) error {
	if tx.op == "" {
		return err
	}
	if err != nil {
		err = wrap(tx.op, tx.id, err)
	}
	return tx.st.called(tx.ctx, tx.op, tx.id, tx.start, err)
}

// has reports whether the directory has an entry of that name, or may have one.
func (tx *transaction) has(name string) bool {
	_, err := tx.dir.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// sync reports whether content is synced before it takes its name.
func (tx *transaction) sync() bool { return tx.st.opts.Durability != Relaxed }

// commit makes the names that changed durable, if the store is durable, and lets a new
// session appear. It does nothing but return err, the outcome of the write, if the write
// failed. The error Is [ErrConflict] when a tool that takes no lock came between.
func (tx *transaction) commit(err error) error {
	if err == nil {
		err = tx.makeDurable()
	}
	switch {
	case err == nil:
		tx.committed = true
		tx.st.changed(tx.id, Wrote, tx.wrote...)
	case overtaken(err):
		err = fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return err
}

func (tx *transaction) makeDurable() error {
	if tx.created {
		tx.s.backups = soundBackups{}
		return tx.publish()
	}
	tx.backUpMetadata()
	if !tx.sync() || len(tx.wrote) == 0 && !tx.namesChanged {
		return nil
	}
	if tx.namesChanged {
		if err := tx.syncNames(); err != nil {
			return err
		}
		tx.s.nameSynced = tx.s.cachedMain()
	}
	// The name of the session's directory is synced once for each directory. The program
	// that made the directory may not have synced it: a process that was killed, or a
	// Python tool, which syncs nothing.
	if tx.dir.Place.SameFile(tx.s.parentSynced) {
		return nil
	}
	if err := tx.st.base.Sync(); err != nil {
		return fmt.Errorf("sync sessions directory: %w", err)
	}
	tx.s.parentSynced = tx.dir.Place
	return nil
}

// publish lets a new session appear.
func (tx *transaction) publish() error {
	place, err := tx.dir.Stat(".")
	if err != nil {
		return err
	}
	if err := tx.st.base.Publish(tx.dir, tx.sync()); err != nil {
		return tx.madeByAnother(err)
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

// errDisplaced is returned when this call displaced a file of another writer that takes
// no lock: that writer gave the name to its own file just before this call. The other
// writer's file is the backup now.
var errDisplaced = errors.New("another writer's file became the backup")

// overtaken reports whether err means that another writer came between.
func overtaken(err error) bool {
	return errors.Is(err, commit.ErrOvertaken) || errors.Is(err, commit.ErrOverwritten) || errors.Is(err, errDisplaced)
}
