package adk

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/adk/v2/session"
)

// talk is a session as Create, Get and List return it. Its methods may be called by many
// goroutines.
type talk struct {
	app, user, id string
	later         func() error // of List: reads the rest at its first call; nil: all is there

	mu      sync.RWMutex // guards the fields below
	events  []*session.Event
	state   map[string]any
	updated time.Time
	since   since
}

func (t *talk) ID() string             { return t.id }
func (t *talk) AppName() string        { return t.app }
func (t *talk) UserID() string         { return t.user }
func (t *talk) State() session.State   { return state{t} }
func (t *talk) Events() session.Events { return events(t.now()) }

// now returns the events that there are.
func (t *talk) now() []*session.Event {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Clip(t.events)
}

func (t *talk) LastUpdateTime() time.Time {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.updated
}

// ready reads what List left out.
func (t *talk) ready() error {
	if t.later == nil {
		return nil
	}
	return t.later()
}

// set takes what was read of the session. A listed session has no events.
func (t *talk) set(e end, shared map[string]any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.later == nil {
		t.events, t.updated = e.events, e.updated
	}
	t.state, t.since = e.state, e.since
	maps.Copy(t.state, shared)
}

// due reports whether the next event is to have the state before it beside it.
func (t *talk) due() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.since.due()
}

// add adds an event that was stored in so many bytes, and what it says about the state.
func (t *talk) add(e *session.Event, delta map[string]any, before *kept, size int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.Copy(t.state, delta)
	t.events = plus(t.events, e)
	t.updated = e.Timestamp
	t.since = t.since.plus(before, size)
}

// plus returns events with one more, which replaces the last if it has its id: an append whose
// answer was lost was repeated.
func plus(events []*session.Event, e *session.Event) []*session.Event {
	if n := len(events); n > 0 && e.ID != "" && events[n-1].ID == e.ID {
		events = events[: n-1 : n-1]
	}
	return append(events, e)
}

// events is a session.Events.
type events []*session.Event

func (e events) All() iter.Seq[*session.Event] { return slices.Values(e) }
func (e events) Len() int                      { return len(e) }

// At returns event i, or nil where there is no such event, as adk-go does.
func (e events) At(i int) *session.Event {
	if i < 0 || i >= len(e) {
		return nil
	}
	return e[i]
}

// state is the session.State of a session.
type state struct{ of *talk }

func (s state) Get(key string) (any, error) {
	if err := s.of.ready(); err != nil {
		return nil, err
	}
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	value, ok := s.of.state[key]
	if !ok {
		return nil, session.ErrStateKeyNotExist
	}
	return value, nil
}

// Set sets a value in memory alone: what is to be kept is in the events.
func (s state) Set(key string, value any) error {
	if err := s.of.ready(); err != nil {
		return err
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.state[key] = value
	return nil
}

func (s state) All() iter.Seq2[string, any] {
	if s.of.ready() != nil {
		return maps.All(map[string]any(nil))
	}
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	return maps.All(maps.Clone(s.of.state))
}
