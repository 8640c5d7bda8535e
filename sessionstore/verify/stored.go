package verify

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// stored checks the transcript and the metadata, as the older tools and as the newer ones
// read them. Each refuses files that the other reads: the older ones a byte order mark and
// raw surrogates, the newer ones rows without a role.
func (c *check) stored(of *sessionstore.Store) {
	st, err := sessionstore.Open(of.Dir(), &sessionstore.Options{CacheBytes: -1}) // a store that keeps nothing that it reads
	if err != nil {
		c.add(Damaged, "", 0, err)
		return
	}
	defer st.Close()
	s, err := st.Load(c.ctx, c.id)
	if c.ended() {
		return
	}
	_, _, refused := st.LoadStrict(c.ctx, c.id)
	if _, gone := os.Lstat(c.dir); errors.Is(gone, fs.ErrNotExist) || c.ended() {
		return // it was removed since
	}
	strict := (*sessionstore.StrictError)(nil)
	switch {
	case err != nil:
		c.damage(Damaged, err, "")
	case s.Recovered != nil:
		kind := Recovered
		if _, err := os.Lstat(filepath.Join(c.dir, sessiondir.Marker)); err == nil {
			kind = Pending
		}
		c.damage(kind, s.Recovered.Reason, filepath.Base(s.Recovered.Path))
	case errors.As(refused, &strict):
		c.damage(Strict, strict.Err, strict.Source)
	}
}

// damage adds a finding for each damaged file that err names. When it names none, the
// finding names file.
func (c *check) damage(k Kind, err error, file string) {
	all := corrupt(err)
	for _, e := range all {
		c.add(k, filepath.Base(e.Path), e.Line, e.Err)
	}
	if len(all) == 0 {
		c.add(k, file, 0, err)
	}
}

// corrupt returns the errors in the tree of err that are of damaged files.
func corrupt(err error) (all []*sessionstore.CorruptError) {
	switch e := err.(type) {
	case *sessionstore.CorruptError:
		return []*sessionstore.CorruptError{e}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, corrupt(one)...)
		}
	case interface{ Unwrap() error }:
		return corrupt(e.Unwrap())
	}
	return all
}

// foreignFiles adds a finding for each file that a program that copies folders left there:
// another device's version of the transcript with messages of its own, and the
// placeholder of a file whose content is not on this device.
func (c *check) foreignFiles(st *sessionstore.Store) {
	if c.ended() {
		return
	}
	for _, name := range []string{sessiondir.Transcript, sessiondir.Metadata, "events.jsonl"} {
		name = "." + name + ".icloud"
		if _, err := os.Lstat(filepath.Join(c.dir, name)); err == nil {
			c.add(Foreign, name, 0, errEvicted)
		}
	}
	copies, err := core.Of(st).Copies(c.ctx, c.id)
	if err != nil {
		return // the session cannot be read, which another finding reports
	}
	for _, name := range slices.Sorted(maps.Keys(copies)) {
		c.add(Foreign, name, 0, fmt.Errorf("it is another device's version: messages that the transcript does not have: %d", copies[name]))
	}
}

var errEvicted = errors.New("it stands for a file whose content is not on this device")

// maxDocument is the size of the largest JSON document that is checked.
const maxDocument = 256 << 20

// latest is later than every event.
var latest = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// logs checks the logs of events, the session's and the capture's.
func (c *check) logs() {
	c.log("events.jsonl", eventslog.Open)
	c.log("context-intelligence/events.jsonl", eventslog.OpenCapture)
}

// log checks one log of events, which open opens.
func (c *check) log(file string, open func(string, *eventslog.Options) (*eventslog.Log, error)) {
	log, err := open(c.dir, nil)
	if err != nil {
		return
	}
	cut, err := log.SliceTo(c.ctx, io.Discard, latest, "", "")
	_ = log.Close() // only read
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		c.add(Log, file, 0, err)
	case cut.Skipped > 0:
		c.add(Log, file, 0, &LogError{cut.Skipped, cut.Events + cut.Skipped})
	}
}

// backups checks the backups of a sound transcript and sound metadata.
func (c *check) backups() {
	c.lines(Backup, sessiondir.Backup(sessiondir.Transcript))
	c.document(Backup, sessiondir.Backup(sessiondir.Metadata))
}

// states checks the files that other packages and tools keep in the session.
func (c *check) states() {
	for _, name := range []string{"phase_outputs.jsonl", "session_conversation.jsonl", "state_history.jsonl"} {
		c.lines(State, name)
	}
	for _, name := range []string{"state.json", "pending_approvals.json", "session-state.json", "checkpoint.json"} {
		c.document(State, name)
	}
}

// lines adds a finding for the first line of a file that is neither blank nor
// a JSON object.
func (c *check) lines(k Kind, name string) {
	c.open(k, name, func(f io.Reader) (int, error) {
		for in := jsonl.NewReader(f); ; {
			line, err := in.Next()
			if errors.Is(err, io.EOF) || c.ended() {
				return 0, nil
			}
			if err != nil {
				return 0, err
			}
			if text := pyjson.TrimSpace(line.Bytes); len(text) > 0 {
				if err := object(text); err != nil {
					return line.Number, err
				}
			}
		}
	})
}

// document adds a finding when a file is not one JSON object.
func (c *check) document(k Kind, name string) {
	c.open(k, name, func(f io.Reader) (int, error) {
		text, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
		if err != nil {
			return 0, err
		}
		if len(text) > maxDocument {
			return 0, errTooLarge
		}
		return 0, object(text)
	})
}

// object returns the reason why text is no JSON object.
func object(text []byte) error {
	if err := pyjson.Check(text, pyjson.Tolerant); err != nil {
		return err
	}
	if pyjson.KindOf(pyjson.TrimSpace(text)) != pyjson.Object {
		return errNoObject
	}
	return nil
}

// open opens a file, if it is there, and adds the fault that look finds in it.
func (c *check) open(k Kind, name string, look func(io.Reader) (line int, err error)) {
	if c.ended() {
		return
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return // the session was removed
	}
	defer root.Close()
	f, _, err := vfs.Open(root, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		c.add(k, name, 0, err)
		return
	}
	defer f.Close()
	if line, err := look(f); err != nil {
		c.add(k, name, line, err)
	}
}
