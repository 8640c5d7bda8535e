package ownership

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// Held is the ownership lock of a session. Its holder has it alone on this machine until
// [Held.Release] or the end of the process. A host that runs the session has announced
// itself; a holder for one call has not. The methods may be called by any goroutine.
type Held struct {
	session Session

	mu      sync.Mutex // guards the fields below
	state   *vfs.Dir
	lock    *lock.Lock // nil after Release
	options Options
	record  []byte // content of owner.json; nil: not announced
}

// A Waiter calls try, which does not wait, until its error is not
// [lock.ErrBusy], and returns the last error.
type Waiter func(ctx context.Context, try func() error) error

// Take takes the lock of a session for a short time and writes no owner.json. It calls
// wait to wait for other short holders. It does not wait for a host that runs the session: the error is then a
// [*BusyError] at once, and so it is for a lock that was not given up during the wait. A
// record whose process is gone does not count as a host.
//
// It does not look for a fence: see [Held.Check]. Other errors are [ErrUnsafe], ctx's or
// the operating system's; nothing is held then. Where the reference has no such lock
// (Windows) the error is [errors.ErrUnsupported], and callers go on without the lock. A
// file system without locks is [ErrUnsafe], as in the reference, and [ErrNoLocks].
func Take(ctx context.Context, s Session, wait Waiter) (*Held, error) {
	if !supported {
		return nil, fmt.Errorf("acquire session lock: %w", errors.ErrUnsupported)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("acquire session lock: %w", err)
	}
	state, err := openState(s)
	if err != nil {
		return nil, err
	}
	h := &Held{session: s, state: state}
	err = wait(ctx, h.try)
	if errors.Is(err, lock.ErrBusy) && ctx.Err() == nil {
		err = h.busy()
	}
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// try locks session.lock. Only a host that runs the session is [ErrBusy].
func (h *Held) try() error {
	in, err := h.state.Handle()
	if err != nil {
		return untrustedBecause("cannot open state directory "+h.session.ID, err)
	}
	taken, err := lock.Options{In: in, Alone: h.session.Alone}.Try(h.state.Root(), LockName)
	switch {
	case err == nil:
		h.lock = taken
		return nil
	case !errors.Is(err, lock.ErrBusy):
		// The cause is in the text only: it must not count as a system without locks.
		const text = "cannot acquire stable session lock"
		if errors.Is(err, errors.ErrUnsupported) {
			return &failure{kind: ErrUnsafe, cause: ErrNoLocks, text: text + ": " + err.Error()}
		}
		return untrustedBecause(text, err)
	}
	if owner := ReadOwner(h.state.Root()); owner != nil && owner.presence() == running {
		return &BusyError{Owner: owner}
	}
	return err
}

// busy returns the error for a lock that was not given up in time.
func (h *Held) busy() error {
	owner := ReadOwner(h.state.Root())
	if owner != nil && owner.presence() == gone {
		owner = nil
	}
	return &BusyError{Owner: owner}
}

// Acquire takes the lock for a host, without waiting, and announces it. Two holders
// exclude each other in one process too. Its errors are the errors of [Take] and
// [Held.Announce].
func Acquire(ctx context.Context, s Session, o Options) (*Held, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("acquire session lock: %w", err)
	}
	if _, err := newRecord(s, o); err != nil { // before anything is made
		return nil, err
	}
	h, err := Take(ctx, s, func(_ context.Context, try func() error) error { return try() })
	if err != nil {
		return nil, err
	}
	if err := h.Announce(ctx, o); err != nil {
		return nil, errors.Join(err, h.Release())
	}
	return h, nil
}

// Announce writes to owner.json that a host runs the session. If there is a fence, the
// error is a [*FencedError]; for arguments that may not be shown it is [ErrInvalid].
// After an error the lock is held as before. Announce does nothing if the holder is
// announced already.
func (h *Held) Announce(ctx context.Context, o Options) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.record != nil {
		return nil
	}
	record, err := newRecord(h.session, o)
	if err != nil {
		return err
	}
	if err := h.check(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("acquire session lock: %w", err)
	}
	if err := WriteState(h.state, OwnerName, record); err != nil {
		return err
	}
	h.record, h.options = record, o
	return nil
}

// Retract writes to owner.json that the host no longer runs the session. The lock is
// still held.
func (h *Held) Retract() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.retract()
}

func (h *Held) retract() error {
	if h.lock == nil || h.record == nil {
		return nil
	}
	record := h.record
	h.record = nil
	return WriteState(h.state, OwnerName, released(record, h.options.now()))
}

// Owner returns the announced owner.
func (h *Held) Owner() Owner {
	h.mu.Lock()
	defer h.mu.Unlock()
	owner, _ := ParseOwner(h.record)
	return owner
}

// Check returns nil while the session may be run: it is held and no fence has appeared.
// After Release the error is [fs.ErrClosed].
func (h *Held) Check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.check()
}

func (h *Held) check() error {
	if h.lock == nil {
		return limits.Errorf(fs.ErrClosed, "check session lock: it was given up")
	}
	fence, err := ReadFence(h.session)
	if err == nil && fence != nil {
		err = &FencedError{Fence: *fence}
	}
	return err
}

// RemoveCheckpoint removes the legacy checkpoint, as a host does that deletes
// the session. It is gone from the disk afterwards; a missing one is no error.
func (h *Held) RemoveCheckpoint() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.check(); err != nil {
		return err
	}
	if err := checkFile(h.state.Root(), CheckpointName); err != nil {
		return err
	}
	return removeState(h.state, CheckpointName)
}

// RemoveOwner removes owner.json: the session is gone. The record of this holder is not
// written again.
func (h *Held) RemoveOwner() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock == nil {
		return nil
	}
	h.record = nil
	return removeState(h.state, OwnerName)
}

// Release gives the session up. If the holder was announced, Release writes the end to
// owner.json before it drops the lock; the lock is dropped even when this write fails.
// Further calls do nothing.
func (h *Held) Release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock == nil {
		return nil
	}
	return errors.Join(h.retract(), h.close())
}

func (h *Held) close() error {
	var err error
	if h.lock != nil {
		err = h.lock.Unlock()
		h.lock = nil
	}
	return errors.Join(err, h.state.Close())
}

// The kinds of errors. The messages of the errors of [Acquire] and similar functions are
// the reference's, so the kinds are found by errors.Is alone.
var (
	// ErrBusy is returned when another holder has the session; see [BusyError].
	ErrBusy = errors.New("shared session is busy")
	// ErrFenced is returned when a transfer forbids running the session; see
	// [FencedError].
	ErrFenced = errors.New("session execution is fenced by a durable transfer")
	// ErrUnsafe is returned for state that cannot be trusted: a wrong type, owner or
	// mode, a symlink, or content that does not parse.
	ErrUnsafe = errors.New("shared state is unsafe")
	// ErrNoLocks is returned when the file system of the state has no locks.
	ErrNoLocks = errors.New("file system has no locks")
	// ErrInvalid is returned for a refused workspace, id or other argument.
	ErrInvalid = errors.New("invalid session identity")
)

// failure is an error of a kind whose message is the reference's own text.
type failure struct {
	kind, cause error
	text        string
}

func (e *failure) Error() string { return e.text }

func (e *failure) Unwrap() []error { return []error{e.kind, e.cause} }

func invalid(text string) error { return &failure{kind: ErrInvalid, text: text} }

func untrusted(text string) error { return &failure{kind: ErrUnsafe, text: text} }

// untrustedBecause shows cause too: it comes from the operating system.
func untrustedBecause(text string, cause error) error {
	return &failure{kind: ErrUnsafe, text: text + ": " + cause.Error(), cause: cause}
}
