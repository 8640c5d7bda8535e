package ownership

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/filelock"
)

// Options say how a session is held.
type Options struct {
	App   string            // name shown to other hosts; 1 to 256 characters
	Extra map[string]string // further members of the record, at most 1024 characters each; names that suggest a secret are refused
	Now   func() time.Time  // nil: time.Now
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// Held is the exclusive right to run a session on this machine, until
// [Held.Release] or the end of the process. Its methods may be called by any
// goroutine.
type Held struct {
	session Session
	options Options
	record  []byte // content of owner.json

	mu   sync.Mutex // guards dir and lock
	dir  *atomicfile.Dir
	lock *filelock.Lock // nil after Release
}

// Acquire takes the session for this process without waiting, and says so in
// its owner.json. Two holders exclude each other in one process too.
//
// Errors are [*BusyError], [*FencedError], [ErrUnsafe], [ErrInvalid], ctx's or
// the operating system's; nothing is held then. Where the reference has no
// such lock (Windows) it is [errors.ErrUnsupported], and callers go on
// without. A file system without locks is [ErrUnsafe], as in the reference.
func Acquire(ctx context.Context, s Session, o Options) (*Held, error) {
	if !supported {
		return nil, fmt.Errorf("acquire session lock: %w", errors.ErrUnsupported)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("acquire session lock: %w", err)
	}
	record, err := newRecord(s, o)
	if err != nil {
		return nil, err
	}
	dir, err := openState(s)
	if err != nil {
		return nil, err
	}
	h := &Held{session: s, options: o, record: record, dir: dir}
	if err := h.acquire(ctx); err != nil {
		_ = dir.Close() // read only
		return nil, err
	}
	return h, nil
}

func (h *Held) acquire(ctx context.Context) error {
	lock, err := filelock.Try(h.dir.Root(), LockName, 0o600)
	if errors.Is(err, filelock.ErrBusy) {
		return &BusyError{Owner: ReadOwner(h.dir.Root())}
	}
	if err != nil {
		// The cause is only told: it must not pass for a system without locks.
		return untrusted("cannot acquire stable session lock: " + err.Error())
	}
	if err := h.announce(ctx); err != nil {
		return errors.Join(err, lock.Unlock())
	}
	h.lock = lock
	return nil
}

// announce writes owner.json unless a fence or ctx forbids it.
func (h *Held) announce(ctx context.Context) error {
	if err := checkFence(h.session); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("acquire session lock: %w", err)
	}
	return WriteState(h.dir, OwnerName, h.record)
}

func checkFence(s Session) error {
	fence, err := ReadFence(s)
	if err == nil && fence != nil {
		err = &FencedError{Fence: *fence}
	}
	return err
}

// Owner returns what this holder says of itself.
func (h *Held) Owner() Owner {
	owner, _ := ParseOwner(h.record)
	return owner
}

// Check tells whether the session may still be run: it is held and no fence
// has appeared. After Release it is [fs.ErrClosed].
func (h *Held) Check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.check()
}

func (h *Held) check() error {
	if h.lock == nil {
		return fmt.Errorf("check session lock: %w", fs.ErrClosed)
	}
	return checkFence(h.session)
}

// RemoveCheckpoint removes the legacy checkpoint, as a host does that deletes
// the session. It is gone from the disk afterwards; a missing one is no error.
func (h *Held) RemoveCheckpoint() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.check(); err != nil {
		return err
	}
	if err := checkFile(h.dir.Root(), CheckpointName); err != nil {
		return err
	}
	return removeState(h.dir, CheckpointName)
}

// Release gives the session up. owner.json says so before the lock is
// dropped; the lock is dropped even when that fails. Further calls do nothing.
func (h *Held) Release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock == nil {
		return nil
	}
	written := WriteState(h.dir, OwnerName, released(h.record, h.options.now()))
	err := errors.Join(written, h.lock.Unlock(), h.dir.Close())
	h.lock = nil
	return err
}
