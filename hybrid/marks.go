package hybrid

import (
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// marks are the sessions that have to be looked at. It holds ids alone, so it
// does not grow however long the cloud is away.
type marks struct {
	mu    sync.Mutex // guards what follows
	dirty map[string]reason
	own   map[string]struct{} // transcripts written by this store since they were last looked at
	gone  map[string]struct{} // sessions removed by this store
	more  chan struct{}       // holds a token when there are marks
}

// reason is why a session is looked at.
type reason uint8

const (
	written reason = iota // its files may have changed
	hinted                // the cloud may have changed
)

func newMarks() marks {
	return marks{
		dirty: map[string]reason{}, own: map[string]struct{}{}, gone: map[string]struct{}{}, more: make(chan struct{}, 1),
	}
}

// heard takes a write of this store. It allocates nothing for a session that
// is marked already.
func (m *marks) heard(c sessionstore.Change) {
	m.mu.Lock()
	switch {
	case c.File == sessiondir.Transcript:
		m.own[c.ID] = struct{}{}
	case c.File == "" && c.Op == sessionstore.Removed:
		m.gone[c.ID] = struct{}{}
	}
	m.mu.Unlock()
	m.mark(c.ID, written)
}

func (m *marks) mark(id string, why reason) {
	m.mu.Lock()
	if had, ok := m.dirty[id]; !ok || why > had {
		m.dirty[id] = why
	}
	m.mu.Unlock()
	select {
	case m.more <- struct{}{}:
	default:
	}
}

// take returns the marks and forgets them.
func (m *marks) take() map[string]reason {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.dirty
	m.dirty = map[string]reason{}
	return taken
}

// empty reports whether nothing is marked.
func (m *marks) empty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.dirty) == 0
}

// removed reports whether this store removed a session.
func (m *marks) removed(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, gone := m.gone[id]
	return gone
}

// returned forgets that this store removed a session, which is here again.
func (m *marks) returned(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.gone, id)
}

// isOwn reports whether this store wrote the transcript since takeOwn was last
// called.
func (m *marks) isOwn(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, own := m.own[id]
	return own
}

// takeOwn reports whether this store wrote the transcript since it was last
// called.
func (m *marks) takeOwn(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, own := m.own[id]
	delete(m.own, id)
	return own
}
