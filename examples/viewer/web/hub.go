package web

import (
	"context"
	"sync"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// hub passes the changes in a sessions directory to any number of subscribers. It
// watches only while there are subscribers.
type hub struct {
	store *sessionstore.Store

	mu      sync.Mutex // guards the fields below
	subs    map[*subscription]bool
	watcher *sessionstore.Watcher
	done    chan struct{} // closed when nothing reads the watcher any more
}

func newHub(st *sessionstore.Store) *hub {
	return &hub{store: st, subs: map[*subscription]bool{}}
}

// subscription gathers changes until its subscriber takes them. It keeps each name once,
// and no more than maxWaiting names: then all is set instead.
type subscription struct {
	session string        // "": the names of all sessions that change
	wake    chan struct{} // holds a token while something waits

	mu      sync.Mutex // guards the fields below
	waiting map[string]bool
	all     bool // everything may have changed
}

const maxWaiting = 64

// subscribe returns a subscription to all changes that come after its return.
func (h *hub) subscribe(ctx context.Context, session string) (*subscription, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watcher == nil {
		w, err := h.store.Watch(context.WithoutCancel(ctx)) // others subscribe to it too
		if err != nil {
			return nil, err
		}
		done := make(chan struct{})
		h.watcher, h.done = w, done
		go func() {
			defer close(done)
			for c := range w.Changes() {
				h.publish(c)
			}
		}()
	}
	s := &subscription{session: session, wake: make(chan struct{}, 1), waiting: map[string]bool{}}
	h.subs[s] = true
	return s, nil
}

// unsubscribe ends the watch, and waits for its end, with the last subscriber.
func (h *hub) unsubscribe(s *subscription) {
	h.mu.Lock()
	delete(h.subs, s)
	w, done := h.watcher, h.done
	if len(h.subs) > 0 || w == nil {
		h.mu.Unlock()
		return
	}
	h.watcher = nil
	h.mu.Unlock()
	stop(w, done)
}

// close ends the watch; subscribers get no more changes.
func (h *hub) close() {
	h.mu.Lock()
	w, done := h.watcher, h.done
	h.watcher = nil
	h.mu.Unlock()
	if w != nil {
		stop(w, done)
	}
}

func stop(w *sessionstore.Watcher, done <-chan struct{}) {
	_ = w.Close() // nothing was written
	<-done
}

func (h *hub) publish(c sessionstore.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		s.note(c)
	}
}

func (s *subscription) note(c sessionstore.Change) {
	if s.session != "" && c.ID != "" && c.ID != s.session {
		return
	}
	s.mu.Lock()
	name := c.File
	if s.session == "" {
		name = c.ID
	}
	switch {
	case c.Op == sessionstore.Rescan, name == "", len(s.waiting) >= maxWaiting:
		s.all = true
	default:
		s.waiting[name] = true
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take returns what changed since the last time, files of the session or
// sessions, and whether everything may have.
func (s *subscription) take() (names map[string]bool, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, all = s.waiting, s.all
	s.waiting, s.all = map[string]bool{}, false
	return names, all
}
