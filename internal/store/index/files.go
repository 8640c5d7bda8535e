package index

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Files are the files of the index of one sessions directory. Several processes may use
// them. A file that cannot be read counts as missing.
type Files struct {
	// Read returns the content of a file. The error Is [fs.ErrNotExist] when
	// there is none.
	Read func(name string) ([]byte, error)

	// Open opens the directory, and makes it if it is missing.
	Open func() (*vfs.Dir, error)

	// Edit opens a file to be changed in place. The error Is [fs.ErrNotExist] when
	// there is none.
	Edit func(name string) (*vfs.Edit, error)

	// Has reports whether there is a session id.
	Has func(id string) bool

	Alone bool // no other process writes here; see [lock.Options]
}

// patience is the longest time that a write waits for another one.
const patience = time.Second

// Shard returns the entries of a shard.
func (f *Files) Shard(n int) Shard {
	data, err := f.Read(ShardName(n))
	if err != nil {
		return nil
	}
	s, _ := ParseShard(data) // nil, if it is no shard
	return s
}

// Rows returns the rows file of session id, or nil.
func (f *Files) Rows(id string) *Rows {
	data, err := f.Read(RowsName(id))
	if err != nil {
		return nil
	}
	x, err := ParseRows(data)
	if err != nil || x.ID != id {
		return nil
	}
	return x
}

// PutRows writes the rows file of a session, if the session is still there.
func (f *Files) PutRows(ctx context.Context, x *Rows) error {
	return f.locked(ctx, patience, func(dir *vfs.Dir) error {
		if !f.Has(x.ID) {
			return nil
		}
		return write(dir, RowsName(x.ID), x.Encode())
	})
}

// NoteAppend notes an append of this library in the rows file of session id, if
// there is one. It is for the holder of the session's lock. It writes a few bytes
// in place and syncs nothing: when they are torn, or lost because the file is
// replaced at the same time, the next reader hashes the transcript.
func (f *Files) NoteAppend(id string, a Append) (err error) {
	e, err := f.Edit(RowsName(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	var buf [maxSeen]byte
	n, err := e.File().ReadAt(buf[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if note := noteIn(buf[:n], id, a); note != nil {
		return e.WriteAt(note, 0)
	}
	return nil
}

// Change is a difference that a listing found between a session and its entry in a shard.
type Change struct {
	ID   string
	Put  *Entry // nil: its entry is removed
	Gone bool   // the session is gone; the entry stays if the session exists again
}

// Update changes shards. It puts no entry for a session that no longer exists, and
// removes no entry with Gone if the session exists: a session is removed before its
// entry, so no entry comes back.
func (f *Files) Update(ctx context.Context, all []Change) error {
	if len(all) == 0 {
		return nil
	}
	changes := map[int][]Change{}
	for _, c := range all {
		n := Of(c.ID)
		changes[n] = append(changes[n], c)
	}
	return f.locked(ctx, patience, func(dir *vfs.Dir) error {
		for _, n := range slices.Sorted(maps.Keys(changes)) {
			if err := f.apply(dir, n, changes[n]); err != nil {
				return err
			}
		}
		return nil
	})
}

// apply makes changes of one shard. A shard that cannot be read is made anew, since its
// sessions are not known.
func (f *Files) apply(dir *vfs.Dir, n int, all []Change) error {
	data, err := f.Read(ShardName(n))
	s, bad := ParseShard(data)
	changed := !errors.Is(err, fs.ErrNotExist) && (err != nil || bad != nil)
	if s == nil {
		s = Shard{}
	}
	for _, c := range all {
		_, had := s[c.ID]
		switch {
		case c.Put != nil && f.Has(c.ID):
			s[c.ID], changed = *c.Put, true
		case c.Put == nil && had && !(c.Gone && f.Has(c.ID)):
			delete(s, c.ID)
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return write(dir, ShardName(n), s.Encode())
}

// Forget removes the entry and the rows file of session id, which was removed.
func (f *Files) Forget(ctx context.Context, id string) error {
	if !f.made() {
		return nil
	}
	return f.locked(ctx, 0, func(dir *vfs.Dir) error {
		return errors.Join(f.apply(dir, Of(id), []Change{{ID: id, Gone: true}}), remove(dir, RowsName(id)))
	})
}

// made reports whether the index was ever written.
func (f *Files) made() bool {
	_, err := f.Read(Lock)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

// Names returns the names of the files, as far as there are any.
func (f *Files) Names() (names []string, err error) {
	if !f.made() {
		return nil, nil
	}
	dir, err := f.Open()
	if err != nil {
		return nil, err
	}
	names, err = dir.NamesIn(".")
	return names, errors.Join(err, dir.Close())
}

// Sweep removes some of the files names: the rows files of sessions that are gone, rows
// files that are damaged, and temporary files of killed processes. known reports whether
// a file belongs to an existing session.
func (f *Files) Sweep(ctx context.Context, names []string, known func(name string) bool) error {
	names = slices.DeleteFunc(names, func(name string) bool { return !isTemporary(name) && !f.strange(name, known) })
	if len(names) == 0 {
		return nil
	}
	return f.locked(ctx, patience, func(dir *vfs.Dir) error {
		var errs []error
		for _, name := range names { // locked has removed the temporary files
			if f.strange(name, known) { // it may be another file now
				errs = append(errs, remove(dir, name))
			}
		}
		return errors.Join(errs...)
	})
}

// isTemporary reports whether a file is still being written. While the lock is held no
// other process writes, so such a file belongs to a killed process.
func isTemporary(name string) bool { return strings.HasPrefix(name, ".") }

// strange reports whether the rows file name must be removed.
func (f *Files) strange(name string, known func(string) bool) bool {
	if !IsRows(name) || known(name) {
		return false
	}
	data, err := f.Read(name)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	x, err := ParseRows(data)
	return err != nil || RowsName(x.ID) != name || !f.Has(x.ID)
}

// locked runs do while no other process writes here.
func (f *Files) locked(ctx context.Context, limit time.Duration, do func(*vfs.Dir) error) (err error) {
	dir, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	lock, err := lock.Acquire(ctx, dir.Root(), Lock, lock.Options{Limit: limit, Alone: f.Alone})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	names, _ := dir.NamesIn(".") // files that cannot be listed are removed next time
	for _, name := range names {
		if isTemporary(name) {
			_ = dir.Remove(name) // of a killed process, since no other process writes now; tried again next time
		}
	}
	return do(dir)
}

func write(dir *vfs.Dir, name string, data []byte) error {
	return dir.Replace(name, false, time.Now(), func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func remove(dir *vfs.Dir, name string) error {
	if _, err := dir.Root().Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return dir.Remove(name)
}

const rowsHead = "sessionstore rows\x00\x06"

// A rows file begins with a note, of noteSize bytes: the stamp of the transcript after
// appends of this library, and the hash of this stamp and of the stamp at which the rows
// were read. Zeros are no note.
const (
	noteStamp = 7 * binary.MaxVarintLen64 // at most
	noteSize  = noteStamp + sumSize
)

// noteOf returns the note that a transcript was seen, and that only appends of
// this library came between that and its stamp now.
func noteOf(seen Seen, now vfs.Stamp) []byte {
	c := codec{writes: true, b: make([]byte, 0, noteSize)}
	c.stamp(&now)
	b := c.b[:noteStamp]
	return appendSum(b, noteSum(b, seen))
}

func noteSum(stamp []byte, seen Seen) xxh3.Uint128 {
	c := codec{writes: true, b: stamp[:noteStamp:noteStamp]}
	c.seen(&seen)
	return xxh3.Hash128Seed(c.b, Rules)
}

// readNote returns the stamp in a note about a transcript that was seen. ok is
// false if b is no such note.
func readNote(b []byte, seen Seen) (now vfs.Stamp, ok bool) {
	if sumIn(b[noteStamp:]) != noteSum(b, seen) {
		return vfs.Stamp{}, false
	}
	c := codec{b: b[:noteStamp]}
	c.stamp(&now)
	return now, !c.bad
}

// maxSeen is the greatest length of the beginning of a rows file that ends with the state
// to which its note belongs.
const maxSeen = noteSize + len(rowsHead) + 2*binary.MaxVarintLen64 + 256 + 7*binary.MaxVarintLen64 + 1

// noteIn returns the note to write to the beginning of the rows file that begins with b,
// after an append. It returns nil when the file is about another state, or may be about
// an older state with the same stamp.
func noteIn(b []byte, id string, a Append) []byte {
	if len(b) < noteSize+len(rowsHead) || string(b[noteSize:noteSize+len(rowsHead)]) != rowsHead {
		return nil
	}
	c, of, seen := codec{b: b[noteSize+len(rowsHead):]}, "", Seen{}
	c.text(&of)
	c.seen(&seen)
	if c.bad || of != id {
		return nil
	}
	if now, noted := readNote(b, seen); noted && now.Same(a.Was) || (seen.Sure || a.Wrote) && seen.Stamp.Same(a.Was) {
		return noteOf(seen, a.Now)
	}
	return nil
}

// Append is a writer's record of its own append.
type Append struct {
	Was, Now vfs.Stamp // of the transcript
	Wrote    bool      // the writer gave the file the time in Was, so no other content has that stamp
}
