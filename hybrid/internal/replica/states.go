package replica

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
)

// States keeps the state files of a store. Its methods may be called by many
// goroutines; those for one session not at the same time.
type States struct {
	dir    func() (*vfs.Dir, error)
	place  string
	device string
	Remote string               // the identity of the remote
	OnSave func(session string) // called with each state that changes; nil: none
	OnRead func(file string)    // called with each file that is read as a whole; nil: none

	*private.Book // of the directory
}

// NewStates returns the states of the sessions of a place on a device, which are files in
// the directory that dir opens.
func NewStates(dir func() (*vfs.Dir, error), place, device string) *States {
	s := &States{dir: dir, place: place, device: device}
	s.Book = private.NewBook(place, s)
	return s
}

// Alone implements [private.Files].
func (s *States) Alone(do func() error) error { return private.Opened(s.dir).Alone(do) }

// with runs do in the directory of states.
func (s *States) with(do func(*vfs.Dir) error) error {
	return private.Opened(s.dir).With(do)
}

// Load returns the state of a session, or a new one when there is no valid state.
func (s *States) Load(sid, session string) *SessionState {
	fresh := &SessionState{V: stateVersion, Session: session, Place: s.place, Device: s.device, Remote: s.Remote}
	text, err := s.Read(sid + ".json")
	if err != nil {
		return fresh
	}
	var st SessionState
	if json.Unmarshal(text, &st) != nil || st.Session != session || st.V != stateVersion || st.Place != s.place || st.Device != s.device {
		return fresh
	}
	st.stored = text
	st.move(sid, s.Remote)
	return &st
}

// Save replaces a state. It is durable.
func (s *States) Save(sid string, st *SessionState) error {
	text, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("encode sync state: %w", err)
	}
	if bytes.Equal(text, st.stored) {
		return nil
	}
	if s.OnSave != nil {
		s.OnSave(st.Session)
	}
	err = s.Write(sid+".json", text)
	if err == nil {
		st.stored = text
	}
	return err
}

// Write replaces a file beside the states, as [private.Opened.Write] does.
func (s *States) Write(name string, content []byte) error {
	return private.Opened(s.dir).Write(name, content)
}

// Fill replaces a file beside the states with the output of write. What that writes may come
// from the remote, and so may the error.
func (s *States) Fill(name string, write func(io.Writer) error) error {
	return s.with(func(dir *vfs.Dir) error {
		if err := dir.Replace(name, true, time.Now(), write); err != nil {
			return err
		}
		return dir.Sync()
	})
}

// FillLines replaces a file beside the states with lines.
func (s *States) FillLines(name string, lines iter.Seq2[[]byte, error]) error {
	return s.Fill(name, func(w io.Writer) error { return WriteLines(w, lines) })
}

// Read reads a file beside the states.
func (s *States) Read(name string) (text []byte, err error) {
	if s.OnRead != nil {
		s.OnRead(name)
	}
	err = s.with(func(dir *vfs.Dir) (err error) {
		text, err = dir.Root().ReadFile(name)
		return err
	})
	return text, err
}

// Stat returns what the system says of files beside the states; nil for a missing one.
func (s *States) Stat(names ...string) ([]os.FileInfo, error) {
	return private.Opened(s.dir).Stat(names...)
}

// Names returns the names of all files beside the states.
func (s *States) Names() ([]string, error) { return private.Opened(s.dir).Names() }

// Open opens a file beside the states for reading.
func (s *States) Open(name string) (f *os.File, err error) {
	err = s.with(func(dir *vfs.Dir) (err error) {
		f, err = dir.OpenRead(name)
		return err
	})
	return f, err
}

// CopyTo copies the first size bytes of a file beside the states.
func (s *States) CopyTo(w io.Writer, name string, size int64) error {
	if size == 0 {
		return nil
	}
	f, err := s.Open(name)
	if err != nil {
		return err
	}
	_, err = io.CopyN(w, f, size)
	return errors.Join(err, f.Close())
}

// Remove removes a file beside the states, if it is there.
func (s *States) Remove(name string) error {
	return s.with(func(dir *vfs.Dir) error {
		if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// leftFor is how long a file that was being fetched may stay: another living process may
// still fetch it.
const leftFor = 24 * time.Hour

// tablesFor is how long a table that is not changed stays.
const tablesFor = 90 * 24 * time.Hour

// lostFor is how long the value of a change stays that lost a merge.
const lostFor = 90 * 24 * time.Hour

// Sweep removes files that killed processes left, and files that have been kept for long
// enough. Files that cannot be removed stay until the next time.
func (s *States) Sweep() {
	_ = s.with(func(dir *vfs.Dir) error {
		entries, err := fs.ReadDir(dir.Root().FS(), ".")
		if err != nil {
			return err
		}
		for _, e := range entries {
			limit := leftFor
			switch {
			case strings.HasPrefix(e.Name(), Prefix), strings.HasPrefix(e.Name(), former):
				limit = tablesFor
			case strings.Contains(e.Name(), lost):
				limit = lostFor
			case !strings.Contains(e.Name(), Arriving):
				continue
			}
			if fi, gone := e.Info(); gone == nil && time.Since(fi.ModTime()) > limit {
				err = errors.Join(err, dir.Remove(e.Name()))
			}
		}
		return err
	})
}

// Arriving is part of the names of files with lines that are being fetched.
const Arriving = ".arriving-"

// lost is part of the names of files with values that lost a merge.
const lost = ".lost-"

// LostFile returns the name of the file for the value of a change to a file or, where key
// is not empty, to a member of it. sum is of the value.
func LostFile(sid, key, file string, sum segment.Hash) string {
	name := path.Base(file) + "-" + sum.Short()[:8]
	if with := sid + lost + key + "-" + name; key != "" && len(key) <= 64 && fs.ValidPath(with) && !strings.ContainsAny(key, `/\:`) {
		return with
	}
	return sid + lost + name
}

// DownloadFile returns the name of a file for lines of a session that are being fetched.
// Another process may be fetching them too: random keeps the names apart.
func DownloadFile(sid, random string) string { return sid + Arriving + random }

// WriteLines writes lines, each with its LF.
func WriteLines(w io.Writer, lines iter.Seq2[[]byte, error]) error {
	out := bufio.NewWriterSize(w, 256<<10)
	for line, err := range lines {
		if err != nil {
			return err
		}
		_, _ = out.Write(line) // Flush returns errors
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Session returns the known state of a session.
func (t *Table) Session(id string) (Session, bool) {
	defer t.mu.Unlock()
	s, ok := t.lock().sessions[id]
	return s, ok
}

// Sessions returns the known states of all sessions, by their ids.
func (t *Table) Sessions() map[string]Session {
	defer t.mu.Unlock()
	return maps.Clone(t.lock().sessions)
}

// Put records the state of a session.
func (t *Table) Put(s Session) {
	defer t.mu.Unlock()
	if t.lock().sessions[s.ID] != s {
		t.change(batch{Sessions: []Session{s}})
	}
}

// Reopen records that a session needs a sync.
func (t *Table) Reopen(id string) {
	defer t.mu.Unlock()
	if s, ok := t.lock().sessions[id]; ok && s.State != Open {
		t.change(batch{Sessions: []Session{{ID: id, State: Open}}})
	}
}

// Entries yields the catalogue as it was read last, in any order.
func (t *Table) Entries() iter.Seq[Entry] {
	defer t.mu.Unlock()
	return slices.Values(slices.Collect(maps.Values(t.lock().entries)))
}

// Entry returns an entry of the catalogue as it was read last.
func (t *Table) Entry(sid string) (Entry, bool) {
	defer t.mu.Unlock()
	e, ok := t.lock().entries[sid]
	return e, ok
}

// Cursor returns how far the catalogue was read.
func (t *Table) Cursor() Cursor {
	defer t.mu.Unlock()
	return t.lock().cursor
}

// Advance records the entries that were read, and how far the catalogue is known by them.
func (t *Table) Advance(entries []Entry, to Cursor) {
	defer t.mu.Unlock()
	if known := t.lock(); known.cursor == to && !known.news(entries) {
		return
	}
	t.change(batch{Entries: entries, Cursor: &to})
}

// news reports whether an entry is not known.
func (c *content) news(entries []Entry) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return c.entries[e.SID] != e })
}

// Void forgets everything: the catalogue is another one.
func (t *Table) Void() {
	defer t.mu.Unlock()
	t.lock()
	t.change(batch{Void: true})
	t.file.Voids++
}
