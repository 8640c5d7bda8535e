package replica

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// The prefixes of the names of the files of tables. Programs that append to a file use the former
// one: it is read where there is no other, and never written.
const (
	Prefix = "table-"
	former = "replica-"
)

// Table is the known state of all sessions. Its methods may be called by many goroutines.
// Changes are in memory until [Table.Save].
type Table struct {
	open     func() (*vfs.Dir, error) // the directory of its file
	hash     string                   // of the identity, which follows the prefix
	identity string
	saving   chan struct{} // holds a value during Save: a mutex that can be waited for with a context

	mu    sync.Mutex // guards the fields below
	read  bool       // the file was read
	file  header     // of the file that was read or written last
	known content

	put      map[string]Session // what was known before of the sessions that were put since the last Save
	advanced bool               // the cursor was put, too
}

// New returns the table for identity, whose file is in the directory that open
// opens. It reads nothing yet.
func New(open func() (*vfs.Dir, error), identity string) *Table {
	sum := sha256.Sum256([]byte(identity))
	return &Table{
		open: open, hash: hex.EncodeToString(sum[:8]), identity: identity, saving: make(chan struct{}, 1),
		file: header{V: version, Identity: identity}, known: empty(), put: map[string]Session{},
	}
}

const (
	lockLimit = time.Second // longest wait for other processes
	lockEnd   = ".lock"     // of the name of the lock
)

// change makes changes, which the next [Table.Save] writes. t.mu is held.
func (t *Table) change(b batch) {
	for _, s := range b.Sessions {
		if _, ok := t.put[s.ID]; !ok {
			t.put[s.ID] = t.known.sessions[s.ID]
		}
	}
	t.known.apply(&b)
	t.advanced = t.advanced || b.Cursor != nil || b.Void
}

// lock returns the table's content, and reads it first if that was not done. The caller
// unlocks t.mu.
func (t *Table) lock() *content {
	t.mu.Lock()
	t.load()
	return &t.known
}

// load reads the file, if that was not done. t.mu is held.
func (t *Table) load() {
	if t.read {
		return
	}
	t.read = true
	dir, err := t.open()
	if err != nil {
		return
	}
	name := Prefix + t.hash
	if _, err := dir.Stat(name); errors.Is(err, fs.ErrNotExist) {
		name = former + t.hash
	}
	if h, c, ok, err := t.parse(dir, name, ""); ok && err == nil { // an unreadable file counts as empty; Save returns the error
		t.file, t.known = h, c
	}
	_ = dir.Close() // only read
}

// parse reads a file. ok is false for a file that is missing, damaged, of another table or
// known by the name in its header.
func (t *Table) parse(dir *vfs.Dir, name, known string) (h header, c content, ok bool, err error) {
	data, err := readAll(dir, name)
	n := cutLine(data, &h)
	if err != nil || n == 0 || h.V != version || h.Identity != t.identity || h.Name == known {
		return h, c, false, err
	}
	c = empty()
	for {
		var b batch
		data = data[n:]
		if n = cutLine(data, &b); n == 0 {
			return h, c, ok, nil
		}
		c.apply(&b)
		ok = true
	}
}

// Save writes the file, if it lacks changes, with what other processes wrote meanwhile. It
// waits for other goroutines until ctx ends, and a second at most for other processes that
// write; the table can be used while it waits. After an error all changes are kept for the
// next Save.
func (t *Table) Save(ctx context.Context) (err error) {
	if t.saved() {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("save cursors: %w", err)
		}
	}()
	if err := t.beginSave(ctx); err != nil {
		return err
	}
	defer func() { <-t.saving }()
	dir, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	lock, err := lock.Acquire(ctx, dir.Root(), Prefix+t.hash+lockEnd, lock.Options{Limit: lockLimit})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.merge(dir); err != nil {
		return err
	}
	return t.write(dir)
}

// saved reports whether the file lacks nothing.
func (t *Table) saved() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, was := range t.put {
		if t.known.sessions[id] != was {
			return false
		}
	}
	return !t.advanced
}

// beginSave waits until no other goroutine saves.
func (t *Table) beginSave(ctx context.Context) error {
	select {
	case t.saving <- struct{}{}: // also when ctx has ended
		return nil
	default:
	}
	select {
	case t.saving <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// merge takes over what other processes wrote. Where one of them made everything void, the
// changes here are void, too. The lock is held, and t.mu.
func (t *Table) merge(dir *vfs.Dir) error {
	h, there, ok, err := t.parse(dir, Prefix+t.hash, t.file.Name)
	switch {
	case err != nil:
		return err
	case !ok, h.Voids < t.file.Voids:
		return nil
	case h.Voids == t.file.Voids:
		there.apply(new(t.known.beyond(&there, t.put, t.advanced)))
	}
	t.file, t.known = h, there
	return nil
}

// beyond returns the changes that c has and there lacks. Sessions that were put replace
// others, and so does a cursor that advanced: it stands behind no entry that c lacks. A session
// that was put here and there needs a sync: which of the two saw it last is not known.
func (c *content) beyond(there *content, put map[string]Session, advanced bool) (b batch) {
	for id, s := range c.sessions {
		is, known := there.sessions[id]
		switch was, ours := put[id]; {
		case ours && known && is != was && is != s:
			b.Sessions = append(b.Sessions, Session{ID: id, State: Open})
		case ours, !known:
			b.Sessions = append(b.Sessions, s)
		}
	}
	for sid, e := range c.entries {
		if was, ok := there.entries[sid]; !ok || was.Revision < e.Revision || was.Revision == e.Revision && was.Round < e.Round {
			b.Entries = append(b.Entries, e)
		}
	}
	if advanced {
		b.Cursor = &c.cursor
	}
	return b
}

// write replaces the file. The lock is held, and t.mu.
func (t *Table) write(dir *vfs.Dir) error {
	t.file.Name = rand.Text()
	none := empty()
	text, err := appendLine(nil, &t.file)
	if err == nil {
		text, err = appendLine(text, new(t.known.beyond(&none, nil, true)))
	}
	if err != nil {
		return err
	}
	err = dir.Replace(Prefix+t.hash, false, time.Now(), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err == nil {
		t.put, t.advanced = map[string]Session{}, false
	}
	return err
}
