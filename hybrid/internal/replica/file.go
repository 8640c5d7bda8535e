package replica

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Prefix is the prefix of the names of the files of tables.
const Prefix = "replica-"

// Table is the known state of all sessions. Its methods may be called by many goroutines.
// Changes are in memory until [Table.Save].
type Table struct {
	open     func() (*vfs.Dir, error) // the directory of its file
	name     string
	identity string
	saving   chan struct{} // holds a value during Save: a mutex that can be waited for with a context

	mu    sync.Mutex // guards the fields below
	read  bool       // the file was read
	file  file       // as far as it was read
	known content
	all   bool // Save has to write the file anew

	new     []batch // changes that the file lacks
	waiting int     // changes in new
}

// New returns the table for identity, whose file is in the directory that open
// opens. It reads nothing yet.
func New(open func() (*vfs.Dir, error), identity string) *Table {
	sum := sha256.Sum256([]byte(identity))
	return &Table{open: open, name: Prefix + hex.EncodeToString(sum[:8]), identity: identity, saving: make(chan struct{}, 1), known: empty()}
}

// file is the known state of the file of a table.
type file struct {
	name    string // from its header; "": it was never read
	size    int64  // of the part that was read
	changes int    // that were read
}

const (
	lockLimit = time.Second // longest wait for other processes
	slack     = 1000        // changes that a file may hold beyond twice the size of the content
	lockEnd   = ".lock"     // of the name of the lock
)

// change makes changes, which the next [Table.Save] writes. t.mu is held.
func (t *Table) change(b batch) {
	t.known.apply(&b)
	if last := len(t.new) - 1; last >= 0 && b.replaces(&t.new[last]) {
		t.new[last] = b
		return
	}
	if t.waiting += b.changes(); t.waiting > 2*t.known.size()+slack { // it could not be saved for long
		t.new = slices.Collect(t.known.batches())
		t.waiting = t.known.size()
		return
	}
	t.new = append(t.new, b)
}

func (c *content) size() int { return len(c.sessions) + len(c.entries) }

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
	_ = t.catchUp(dir) // an unreadable file counts as empty; Save returns the error
	_ = dir.Close()    // only read
}

// catchUp reads the lines that other processes appended. t.mu is held.
func (t *Table) catchUp(dir *vfs.Dir) error {
	data, err := readAll(dir, t.name)
	if err != nil {
		return err
	}
	var h header
	begin := cutLine(data, &h)
	if begin == 0 || h.V != version || h.Identity != t.identity {
		t.file, t.all = file{}, true
		return nil
	}
	if h.Name == t.file.name && int64(len(data)) >= t.file.size {
		t.file.follow(data[t.file.size:], &t.known)
	} else {
		own := t.known
		t.known, t.file = empty(), file{name: h.Name, size: int64(begin)}
		t.file.follow(data[begin:], &t.known)
		if missing := t.known.missing(&own); missing.changes() > 1 {
			t.new = append([]batch{missing}, t.new...)
		}
	}
	for i := range t.new {
		t.known.apply(&t.new[i])
	}
	if t.file.size < int64(len(data)) {
		t.all = true
	}
	return nil
}

// follow makes the changes of data, the next lines of the file.
func (f *file) follow(data []byte, known *content) {
	for {
		var b batch
		n := cutLine(data, &b)
		if n == 0 {
			return
		}
		known.apply(&b)
		f.changes += b.changes()
		f.size += int64(n)
		data = data[n:]
	}
}

// missing returns the changes that own has and c lacks.
func (c *content) missing(own *content) (b batch) {
	for id, s := range own.sessions {
		if _, ok := c.sessions[id]; !ok {
			b.Sessions = append(b.Sessions, s)
		}
	}
	for sid, e := range own.entries {
		if was, ok := c.entries[sid]; !ok || was.Revision < e.Revision {
			b.Entries = append(b.Entries, e)
		}
	}
	return b
}

// Save writes the changes. It waits for other goroutines until ctx ends, and a second at
// most for other processes that write; the table can be used while it waits. After an
// error all changes are kept for the next Save.
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
	lock, err := lock.Acquire(ctx, dir.Root(), t.name+lockEnd, lock.Options{Limit: lockLimit})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return t.writeNew(dir)
}

// saved reports whether the file lacks nothing.
func (t *Table) saved() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.new) == 0
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

// writeNew writes the changes that the file lacks. The lock is held.
func (t *Table) writeNew(dir *vfs.Dir) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.new) == 0 {
		return nil
	}
	if err := t.write(dir); err != nil {
		return err
	}
	t.all, t.new, t.waiting = false, nil, 0
	return nil
}

// write brings the file up to date. The lock is held, and t.mu.
func (t *Table) write(dir *vfs.Dir) error {
	if err := t.catchUp(dir); err != nil {
		return err
	}
	changes := t.file.changes
	for i := range t.new {
		changes += t.new[i].changes()
	}
	if t.all || changes > 2*t.known.size()+slack {
		return t.writeAll(dir)
	}
	return t.append(dir, changes)
}

// append appends the new changes.
func (t *Table) append(dir *vfs.Dir, changes int) (err error) {
	var lines []byte
	for b := range joined(t.new) {
		if lines, err = appendLine(lines, &b); err != nil {
			return err
		}
	}
	f, _, err := dir.Append(t.name)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Write(lines, t.file.size), f.Close()); err != nil {
		return err
	}
	t.file.size += int64(len(lines))
	t.file.changes = changes
	return nil
}

// writeAll replaces the file.
func (t *Table) writeAll(dir *vfs.Dir) error {
	h := header{V: version, Identity: t.identity, Name: rand.Text()}
	lines, err := appendLine(nil, &h)
	changes := 0
	for b := range t.known.batches() {
		if err == nil {
			lines, err = appendLine(lines, &b)
		}
		changes += b.changes()
	}
	if err != nil {
		return err
	}
	err = dir.Replace(t.name, false, time.Now(), func(w io.Writer) error {
		_, err := w.Write(lines)
		return err
	})
	if err == nil {
		t.file = file{name: h.Name, size: int64(len(lines)), changes: changes}
	}
	return err
}
