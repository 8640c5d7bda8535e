package web

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/viewer/conversation"
	"github.com/amplifier-go/sessionstorage/examples/viewer/eventview"
	"github.com/amplifier-go/sessionstorage/examples/viewer/phaselog"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// cache keeps what was read of the sessions that were looked at last.
type cache struct {
	store *sessionstore.Store

	mu   sync.Mutex  // guards kept
	kept []*readings // the one looked at last is the last
}

// maxKept is how many sessions are kept. Their transcripts are in memory.
const maxKept = 4

func newCache(st *sessionstore.Store) *cache { return &cache{store: st} }

// of returns what is known of session id, which exists.
func (c *cache) of(id string) *readings {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &readings{store: c.store, id: id, phases: phaselog.New(c.store, id)}
	if i := slices.IndexFunc(c.kept, func(r *readings) bool { return r.id == id }); i >= 0 {
		r = c.kept[i]
		c.kept = slices.Delete(c.kept, i, i+1)
	}
	c.kept = append(c.kept, r)
	if len(c.kept) > maxKept {
		c.kept = slices.Delete(c.kept, 0, 1)
	}
	return r
}

// readings are what was read of one session.
type readings struct {
	store  *sessionstore.Store
	id     string
	phases *phaselog.Index

	mu     sync.Mutex // guards what follows
	shot   *snapshot
	events []*filtered // the one asked for last is the last
}

// snapshot is a transcript with its metadata, as they were read at a time.
type snapshot struct {
	*sessionstore.Session
	damage error // Is [sessionstore.ErrCorrupt]
	rows   *conversation.Rows
	tag    string   // another one: another transcript
	aside  []string // files that hold damaged bytes

	stamps []sessiondir.Stamp
	at     time.Time // before the stamps were taken
}

// files are what a snapshot is made of.
var files = []string{"transcript.jsonl", "transcript.jsonl.backup", "metadata.json", "metadata.json.backup"}

// snapshot returns the session as it is now.
func (r *readings) snapshot(ctx context.Context) (*snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := &snapshot{at: time.Now()}
	if err := now.look(ctx, r.store, r.id); err != nil {
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
	return !slices.ContainsFunc(r.shot.stamps, func(s sessiondir.Stamp) bool {
		return s.Size > 0 && !r.store.Inside().Settled(s, r.shot.at)
	})
}

func sameStamp(a, b sessiondir.Stamp) bool {
	return a.Dev == b.Dev && a.Inode == b.Inode && a.Size == b.Size && a.Mtime.Equal(b.Mtime) && a.Ctime.Equal(b.Ctime)
}

func (s *snapshot) look(ctx context.Context, st *sessionstore.Store, id string) error {
	return st.Inside().Read(ctx, id, func(dir *sessiondir.Dir) error {
		for _, name := range files {
			at, err := dir.Stat(name)
			if err != nil {
				at = sessiondir.Stamp{} // what keeps it from being read, Load tells
			}
			s.stamps = append(s.stamps, at)
		}
		for _, name := range dir.Names() {
			if strings.Contains(name, ".damaged-") {
				s.aside = append(s.aside, name)
			}
		}
		return nil
	})
}

func (s *snapshot) load(ctx context.Context, st *sessionstore.Store, id string) (err error) {
	s.Session, err = st.Load(ctx, id)
	if errors.Is(err, sessionstore.ErrCorrupt) && s.Session != nil {
		s.damage, err = err, nil
	}
	if err != nil {
		return err
	}
	s.tag = hex.EncodeToString(s.Revision.Sum[:])
	s.rows, err = conversation.New(s.Messages)
	return err
}

// filtered is an index of one of a session's two logs.
type filtered struct {
	newer  bool
	filter eventview.Filter
	*eventview.Index
}

// maxFilters is how many indexes of its logs are kept for a session.
const maxFilters = 12

// eventsOf returns the index of a log of the session.
func (r *readings) eventsOf(newer bool, f eventview.Filter) (*eventview.Index, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.events, func(x *filtered) bool { return x.newer == newer && x.filter == f })
	if i >= 0 {
		x := r.events[i]
		r.events = append(slices.Delete(r.events, i, i+1), x)
		return x.Index, nil
	}
	log, err := r.log(newer)
	if err != nil {
		return nil, err
	}
	x := &filtered{newer, f, eventview.New(log, f)}
	r.events = append(r.events, x)
	if len(r.events) > maxFilters {
		r.events = slices.Delete(r.events, 0, 1)
	}
	return x.Index, nil
}

// newerDir is where newer tools log, below a session's directory.
const newerDir = "context-intelligence"

// log opens a log of the session for reading, which holds nothing open.
func (r *readings) log(newer bool) (*eventslog.Log, error) {
	dir := filepath.Join(r.store.Dir(), r.id)
	if newer {
		dir = filepath.Join(dir, newerDir)
		if fi, err := os.Lstat(dir); err == nil && !fi.IsDir() {
			return nil, errors.New("open log: " + newerDir + " is not a directory")
		}
	}
	return eventslog.Open(dir, nil)
}

// logs tells which logs the session has, and how large they are.
func (r *readings) logs() (sizes [2]int64) {
	dir := filepath.Join(r.store.Dir(), r.id)
	for i, name := range []string{"events.jsonl", filepath.Join(newerDir, "events.jsonl")} {
		sizes[i] = -1
		if fi, err := os.Lstat(filepath.Join(dir, name)); err == nil && fi.Mode().IsRegular() {
			sizes[i] = fi.Size()
		}
	}
	return sizes
}
