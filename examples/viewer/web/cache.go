package web

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/viewer/eventview"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// cache keeps the readings of the sessions that were looked at last.
type cache struct {
	store *sessionstore.Store

	mu   sync.Mutex  // guards kept
	kept []*readings // in the order in which they were looked at
}

// maxKept limits the sessions that are kept. Their transcripts are in memory.
const maxKept = 4

func newCache(st *sessionstore.Store) *cache { return &cache{store: st} }

// of returns the readings of session id, which exists.
func (c *cache) of(id string) *readings {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &readings{store: c.store, id: id}
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

// unkept returns readings of session id that the cache does not keep.
func (c *cache) unkept(id string) *readings { return &readings{store: c.store, id: id} }

// readings hold the parts of one session that were read.
type readings struct {
	store *sessionstore.Store
	id    string

	mu     sync.Mutex // guards the fields below
	shot   *snapshot
	ties   *ties
	events []*filtered // in the order in which they were asked for
}

// filtered is an index of one of a session's two logs.
type filtered struct {
	newer  bool
	filter eventview.Filter
	*eventview.Index
}

// maxFilters limits the indexes of its logs that are kept for a session.
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

// newerDir is the directory of the newer tools' log, below a session's directory.
const newerDir = "context-intelligence"

// log opens a log of the session for reading. The log keeps no file open.
func (r *readings) log(newer bool) (*eventslog.Log, error) {
	dir := filepath.Join(r.store.Dir(), r.id)
	if !newer {
		return eventslog.Open(dir, nil)
	}
	if fi, err := os.Lstat(filepath.Join(dir, newerDir)); err == nil && !fi.IsDir() {
		return nil, errors.New("open log: " + newerDir + " is not a directory")
	}
	return eventslog.OpenCapture(dir, nil)
}

// logs returns the sizes of the session's two logs, -1 for a missing log.
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
