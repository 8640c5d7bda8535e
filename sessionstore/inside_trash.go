package sessionstore

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/ownership"
)

// Trash opens the directory [sessiondir.Trash], and makes it when it is not
// there. No tool lists what is in it, and nothing of it is lost.
func (in Inside) Trash() (*atomicfile.Dir, error) { return in.st.base.Trash() }

// Send takes a session away as [Store.Delete] does, but into the directory to,
// a path below the sessions directory, where it keeps its name: whole and at
// once. It is durable after [Inside.Settle]. The checkpoint that older hosts
// kept outside of the session's directory stays where it is.
func (in Inside) Send(ctx context.Context, id, to string) error {
	return wrap("move", id, in.st.takeAway(ctx, id, func(*ownership.Held) error {
		return in.st.base.Send(id, to)
	}))
}

// Fetch brings back what Send took. The error Is fs.ErrExist when there is a
// session id by now, and fs.ErrNotExist when the directory from has none.
func (in Inside) Fetch(ctx context.Context, id, from string) error {
	s := in.st.session(id)
	return wrap("move back", id, in.st.alone(ctx, s, id, func() (err error) {
		lock, err := in.st.lock(ctx, s)
		if err != nil {
			return err
		}
		defer func() { err = also(err, lock.Unlock()) }()
		if err := in.st.base.Fetch(id, from); err != nil {
			return err
		}
		in.st.changed(id, Wrote, "")
		return nil
	}))
}

// Settle makes durable, if the store promises that, what Send and Fetch did.
// paths are the directories below the sessions directory, and "." itself, in
// the order in which they are synced: first where sessions went to, so that a
// file system without a journal leaves two names rather than none.
func (in Inside) Settle(paths ...string) error {
	if !in.Sync() {
		return nil
	}
	return in.st.base.SyncAt(paths...)
}

// Destroy removes path, a directory below the sessions directory that Send
// moved sessions into, or one above it; it vanishes at once and whole.
func (in Inside) Destroy(ctx context.Context, path string) error {
	done, err := in.st.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return in.st.base.Destroy(path, in.Sync())
}

// Busy tells why session id may not be taken away now: somebody runs it, which
// Is [ErrLocked] or [ErrFenced], or writes it, which Is ErrLocked. It is nil
// where nothing tells so; tools that take no lock are not noticed.
func (in Inside) Busy(ctx context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	if !in.Free(id) {
		return ErrLocked
	}
	dir, err := in.st.openDir(id)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		err = also(unfenced(dir), dir.Close())
	}
	if err != nil {
		return err
	}
	return in.st.refuseRun(ctx, id)
}

// refuseRun tells that somebody runs session id now, wherever its workspace
// would have it: who runs a copy of it is asked first.
func (st *Store) refuseRun(ctx context.Context, id string) error {
	h := &st.session(id).hold
	h.mu.Lock()
	own := h.held != nil
	h.mu.Unlock()
	place, err := st.locate(id, true)
	if own || err != nil {
		return nil
	}
	if _, err := os.Lstat(place.LockPath()); errors.Is(err, fs.ErrNotExist) {
		return nil // nobody ever ran it, and to ask would leave a lock behind
	}
	brief := &hold{}
	err = brief.take(ctx, place, Owner{})
	if errors.Is(err, ErrLocked) || errors.Is(err, ErrFenced) || ctx.Err() != nil {
		return err
	}
	if err != nil { // state that no host can use does not hold a session
		return nil
	}
	return brief.drop()
}
