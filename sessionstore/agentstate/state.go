package agentstate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Options are the settings of a [State].
type Options struct {
	Durability sessionstore.Durability // Relaxed: less than the store's; else the store's
	Now        func() time.Time        // nil: the store's
}

// A State is what an agent keeps of one session.
type State struct {
	inside sessionstore.Inside
	id     string
	sync   bool
	now    func() time.Time
	closed atomic.Bool

	mu  sync.Mutex       // guards end
	end *sessiondir.Tail // of the history as this State last wrote it
}

// Open opens the state of a session that exists, else the error Is
// [fs.ErrNotExist]. opts may be nil. When the store is closed, which waits for
// calls under way, later ones fail with [sessionstore.ErrClosed].
func Open(st *sessionstore.Store, id string, opts *Options) (*State, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	in := st.Inside()
	if o.Now == nil {
		o.Now = in.Now
	}
	if id == "" || !st.Exists(id) {
		return nil, fmt.Errorf("open state: session %q: %w", id, fs.ErrNotExist)
	}
	return &State{inside: in, id: id, sync: in.Sync() && o.Durability != sessionstore.Relaxed, now: o.Now}, nil
}

// Close ends the use of the state: later calls fail with
// [sessionstore.ErrClosed]. Nothing is left to be written.
func (s *State) Close() error {
	s.closed.Store(true)
	return nil
}

// ID returns the session's id.
func (s *State) ID() string { return s.id }

// RecordItems appends items, each a JSON object, to the history: all of them
// or, when one is refused, none. Line breaks between their members become
// spaces; else they stay as they are.
func (s *State) RecordItems(ctx context.Context, items ...json.RawMessage) error {
	lines, err := toLines(items)
	if err == nil && len(lines) > 0 {
		err = s.changing(ctx, func(w *sessionstore.Work) error {
			err := s.changeObject(ctx, w, stateFile, s.touched)
			if err != nil {
				return err
			}
			return s.appendLines(w, lines)
		})
	}
	return wrap("record items", err)
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func toLines(items []json.RawMessage) (lines []byte, err error) {
	for i, item := range items {
		if !isObject(item) {
			return nil, fmt.Errorf("item %d: %w: not an object", i, ErrInvalid)
		}
		line := bytes.Map(func(r rune) rune { // inside of strings these are escaped
			if r == '\n' || r == '\r' {
				return ' '
			}
			return r
		}, pyjson.Trim(item))
		lines = append(append(lines, line...), '\n')
	}
	return lines, nil
}

// touched returns raw with the time of this access, and of the first one.
func (s *State) touched(raw []byte) ([]byte, error) {
	now := quote(stamp(s.now()))
	if _, found := pyjson.Lookup(raw, "created"); !found {
		raw = pyjson.Splice(raw, "created", now)
	}
	return pyjson.Splice(raw, "lastAccessed", now), nil
}

// History returns a copy of the items. When lines are damaged, it returns the
// others and an error that Is [ErrDamaged].
func (s *State) History(ctx context.Context) (items []json.RawMessage, err error) {
	err = s.reading(ctx, func(dir *sessiondir.Dir) error {
		items, _, err = readHistory(dir)
		return err
	})
	return items, wrap("read history", err)
}

// edit changes state.json.
func (s *State) edit(ctx context.Context, what string, edit func(raw []byte) ([]byte, error)) error {
	err := s.changing(ctx, func(w *sessionstore.Work) error {
		return s.changeObject(ctx, w, stateFile, func(raw []byte) ([]byte, error) {
			raw, err := edit(raw)
			if err != nil {
				return nil, err
			}
			return s.touched(raw)
		})
	})
	return wrap(what, err)
}

// object returns state.json.
func (s *State) object(ctx context.Context) (raw []byte, err error) {
	err = s.reading(ctx, func(dir *sessiondir.Dir) error {
		o, err := readObject(dir, stateFile)
		raw = o.raw
		return err
	})
	return raw, err
}

// member returns a member that is there and not null, else nil.
func member(obj []byte, name string) []byte {
	v, found := pyjson.Lookup(obj, name)
	if !found || pyjson.KindOf(v) == pyjson.Null {
		return nil
	}
	return v
}

func quote(s string) []byte { return pyjson.AppendQuoted(nil, s, pyjson.Style{}) }

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
