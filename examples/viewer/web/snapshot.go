package web

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// snapshot is a session as it was read at a time. A short transcript is read as a whole.
// Of a long one only the length is read; its messages are read when a page asks for
// them, see parts.go.
type snapshot struct {
	metadata  sessionstore.Metadata
	recovered *sessionstore.Recovery // nil where nothing was recovered
	damage    error                  // Is [sessionstore.ErrCorrupt]
	total     int                    // messages
	turns     int
	tag       string   // differs between transcripts
	aside     []string // files that hold damaged bytes

	view *conversation.View // nil: the transcript is long
	msgs []sessionstore.Message
	open int // calls without a result in a long transcript

	stamps []fs.FileInfo // of files; nil: it is not there
	at     time.Time     // before the stamps were taken
}

// longFrom is the number of bytes from which a transcript is read in parts.
const longFrom = 4 << 20

// files are the files that a snapshot is made of.
var files = []string{"transcript.jsonl", "transcript.jsonl.backup", "metadata.json", "metadata.json.backup"}

// snapshot returns the session as it is now.
func (r *readings) snapshot(ctx context.Context) (*snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := &snapshot{at: time.Now()}
	if err := now.look(filepath.Join(r.store.Dir(), r.id)); err != nil {
		return nil, err
	}
	if r.shot != nil && r.settled() && slices.EqualFunc(r.shot.stamps, now.stamps, sameStamp) {
		if !slices.Equal(r.shot.aside, now.aside) {
			again := *r.shot // others may be reading the old one
			again.aside = now.aside
			r.shot = &again
		}
		return r.shot, nil
	}
	r.shot = nil
	if err := now.load(ctx, r.store, r.id); err != nil {
		return nil, err
	}
	r.shot = now
	return now, nil
}

// settled reports whether a change after the snapshot shows in the stamps.
func (r *readings) settled() bool {
	return !slices.ContainsFunc(r.shot.stamps, func(s fs.FileInfo) bool {
		return s != nil && r.shot.at.Sub(s.ModTime()) <= coarsest
	})
}

// coarsest is the longest step in which file systems count time. Two changes within
// a step may leave one stamp.
const coarsest = 2 * time.Second

func sameStamp(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// look takes the stamps of the session in dir.
func (s *snapshot) look(dir string) error {
	for _, name := range files {
		at, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			at = nil // load returns the error
		}
		s.stamps = append(s.stamps, at)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), ".damaged-") {
			s.aside = append(s.aside, e.Name())
		}
	}
	return nil
}

// load reads a session that has its stamps. A damaged one is read as a whole, since that
// finds the place of the damage.
func (s *snapshot) load(ctx context.Context, st *sessionstore.Store, id string) error {
	if main := s.stamps[0]; main != nil && main.Size() >= longFrom {
		err := s.loadLong(ctx, st, id, main)
		if !errors.Is(err, sessionstore.ErrCorrupt) {
			return err
		}
	}
	whole, err := st.Load(ctx, id)
	if errors.Is(err, sessionstore.ErrCorrupt) && whole != nil {
		s.damage, err = err, nil
	}
	if err != nil {
		return err
	}
	s.metadata, s.recovered, s.msgs = whole.Metadata, whole.Recovered, whole.Messages
	s.tag = hex.EncodeToString(whole.Revision.Sum[:])
	s.view, err = conversation.New(s.msgs)
	if err == nil {
		s.total, s.turns = s.view.Len(), s.view.Turns
	}
	return err
}

// loadLong reads the counts and the metadata of a session with a long transcript.
func (s *snapshot) loadLong(ctx context.Context, st *sessionstore.Store, id string, main fs.FileInfo) error {
	sum, err := st.Summary(ctx, id)
	if err != nil {
		return err
	}
	if sum.Damaged {
		return sessionstore.ErrCorrupt
	}
	v, err := (&readings{store: st, id: id}).view(ctx)
	if err != nil {
		return err
	}
	s.total, s.turns, s.open = v.Len(), v.Turns(), sum.Unanswered
	if err := v.Close(); err != nil {
		return err
	}
	if s.metadata, err = st.Metadata(ctx, id); err != nil {
		return err
	}
	s.tag = fmt.Sprintf("%x-%x-%x", s.total, main.Size(), main.ModTime().UnixNano())
	return nil
}
