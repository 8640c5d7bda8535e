package hybrid

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// state is what this replica remembers of a session between syncs. It lies
// outside of the session's directory, so that it moves no times there and
// outlives it. Losing it costs one comparison with the cloud, never data.
type state struct {
	V       int    `json:"v"`
	Session string `json:"session_id"`
	Place   string `json:"place"`  // the sessions directory: a copied one is another replica
	Device  string `json:"device"` // of Place
	Born    string `json:"born"`   // of the tip: another container has another one

	Here  bool           `json:"here,omitempty"` // the session was seen here
	Gone  bool           `json:"gone,omitempty"` // and then was not: it is not brought back unless asked
	Base  *segment.Point `json:"base,omitempty"` // of the transcript, when both sides were last in step
	Main  *followed      `json:"t,omitempty"`
	Own   bool           `json:"own,omitempty"` // Main is what this library wrote
	Quiet time.Time      `json:"quiet"`         // since when Main has not changed

	Logs  map[string]*ownLog        `json:"logs,omitempty"` // by the letter of their kind
	Files map[string]*knownFile     `json:"files,omitempty"`
	Held  map[segment.Stream]heldAt `json:"held,omitempty"` // other devices' logs in the bookkeeping

	Head knownHead `json:"head"`
	Cat  knownCat  `json:"cat,omitzero"`

	Kept []string `json:"kept,omitempty"` // sessions that divergences left here

	stored []byte // as it lies on the disk
}

// knownHead is the tip as it was last read or written.
type knownHead struct {
	ETag  azcore.ETag     `json:"etag,omitempty"`
	Token string          `json:"token,omitempty"` // of the session: no older tip is to be read
	Doc   json.RawMessage `json:"doc,omitempty"`
}

// knownCat is the catalogue's entry as it was last written.
type knownCat struct {
	Revision int64       `json:"rev"`
	ETag     azcore.ETag `json:"etag"`
	At       time.Time   `json:"at"`
}

// ownLog is a log of this device.
type ownLog struct {
	Generation int            `json:"generation"`
	Adopted    int64          `json:"adopted,omitempty"` // bytes of the file that came from another device
	From       segment.Stream `json:"from,omitempty"`    // which one, and how much of it
	FromPoint  segment.Point  `json:"from_point,omitzero"`
	File       *followed      `json:"file,omitempty"`
	Large      *segment.Large `json:"large,omitempty"`
}

// knownFile is a small file as both sides had it.
type knownFile struct {
	Sum  segment.Hash     `json:"sum"`  // of the content as it leaves
	Seen segment.Hash     `json:"seen"` // of the content here
	Base []byte           `json:"base,omitempty"`
	File sessiondir.Stamp `json:"file"`
	At   time.Time        `json:"at"`
}

// heldAt is how far another device's log lies in the bookkeeping.
type heldAt struct {
	Point segment.Point `json:"point"`
	Size  int64         `json:"size"`
}

const stateVersion = 1

// states keeps the state files of a store. Its methods may be called by many
// goroutines; those for one session not at the same time.
type states struct {
	in     sessionstore.Inside
	place  string
	device string
}

const statesDir = "sync"

// with runs do in the directory of states.
func (s *states) with(do func(*atomicfile.Dir) error) error {
	dir, err := s.in.Kept(statesDir)
	if err != nil {
		return fmt.Errorf("open sync state: %w", err)
	}
	return errors.Join(do(dir), dir.Close())
}

// load returns the state of a session, a new one when there is none that can be
// trusted.
func (s *states) load(sid, session string) *state {
	fresh := &state{V: stateVersion, Session: session, Place: s.place, Device: s.device}
	text, err := s.read(sid + ".json")
	if err != nil {
		return fresh
	}
	var st state
	if json.Unmarshal(text, &st) != nil || st.V != stateVersion || st.Session != session || st.Place != s.place || st.Device != s.device {
		return fresh
	}
	st.stored = text
	return &st
}

// save replaces a state. It is durable, but its loss would do no harm.
func (s *states) save(sid string, st *state) error {
	text, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("encode sync state: %w", err)
	}
	if bytes.Equal(text, st.stored) {
		return nil
	}
	err = s.write(sid+".json", text)
	if err == nil {
		st.stored = text
	}
	return err
}

// write replaces a file beside the states.
func (s *states) write(name string, content []byte) error {
	return s.fill(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

func (s *states) fill(name string, write func(io.Writer) error) error {
	return s.with(func(dir *atomicfile.Dir) error {
		err := dir.Replace(name, true, time.Now(), write)
		if err == nil {
			err = dir.Sync()
		}
		if err != nil {
			return fmt.Errorf("write sync state: %w", err)
		}
		return nil
	})
}

func (s *states) read(name string) (text []byte, err error) {
	err = s.with(func(dir *atomicfile.Dir) (err error) {
		text, err = dir.Root().ReadFile(name)
		return err
	})
	return text, err
}

// open opens a file beside the states for reading.
func (s *states) open(name string) (f *os.File, err error) {
	err = s.with(func(dir *atomicfile.Dir) (err error) {
		f, err = dir.OpenRead(name)
		return err
	})
	return f, err
}

// copyTo copies the first size bytes of a file beside the states.
func (s *states) copyTo(w io.Writer, name string, size int64) error {
	if size == 0 {
		return nil
	}
	f, err := s.open(name)
	if err != nil {
		return err
	}
	_, err = io.CopyN(w, f, size)
	return errors.Join(err, f.Close())
}

func (s *states) remove(name string) error {
	return s.with(func(dir *atomicfile.Dir) error {
		if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// leftFor is how long a file that was being fetched may stay: whoever fetched
// it may be another process that still lives.
const leftFor = 24 * time.Hour

// sweep removes what killed processes left. What cannot be removed stays until
// the next time.
func (s *states) sweep() {
	_ = s.with(func(dir *atomicfile.Dir) error {
		entries, err := fs.ReadDir(dir.Root().FS(), ".")
		if err != nil {
			return err
		}
		for _, e := range entries {
			fi, gone := e.Info()
			if gone == nil && strings.Contains(e.Name(), arriving) && time.Since(fi.ModTime()) > leftFor {
				err = errors.Join(err, dir.Remove(e.Name()))
			}
		}
		return err
	})
}
