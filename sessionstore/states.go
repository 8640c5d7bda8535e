package sessionstore

import (
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/cache"
	"github.com/amplifier-go/sessionstorage/internal/ownership"
)

// maxStates is how many descriptors the state cache holds at most.
const maxStates = 64

// stateCache holds the state directories of ownership locks that stay open between
// writes of their sessions: to check one anew takes longer than the rest of the lock.
// A write takes the one that it uses out of the cache, so the cache may close what
// it holds at any time. The zero stateCache is empty.
type stateCache struct {
	mu   sync.Mutex // guards what follows
	open *cache.LRU[string, *ownership.State]
}

// take removes the state directory of session id and returns it, or a new State.
func (c *stateCache) take(id string) *ownership.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open != nil {
		if state, _, ok := c.open.Remove(id); ok {
			return state
		}
	}
	return &ownership.State{}
}

// put caches a state directory for the next write of session id. It closes those
// that were used longest ago when there are more than maxStates descriptors.
func (c *stateCache) put(id string, state *ownership.State) (err error) {
	n := state.Descriptors()
	if n == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = cache.New[string, *ownership.State](maxStates)
	}
	c.open.Put(id, state, int64(n))
	for c.open.Over() {
		_, oldest, _ := c.open.Evict()
		err = joinErrors(err, oldest.Close())
	}
	return err
}

// empty closes all state directories, and reports whether there were any.
func (c *stateCache) empty() (some bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.open != nil && c.open.Len() > 0 {
		_, oldest, _ := c.open.Evict()
		some, err = true, joinErrors(err, oldest.Close())
	}
	return some, err
}
