package sessionstore

import (
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/cache"
	"github.com/amplifier-go/sessionstorage/internal/ownership"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// maxHandles is how many descriptors the handle cache holds at most.
const maxHandles = 64

// handles are the files of a session that stay open between writes: those of its
// directory, and those of its ownership lock.
type handles struct {
	*sessiondir.Handles
	owner ownership.State
}

// Close closes what is open. The handles can be used again.
func (h *handles) Close() error { return joinErrors(h.Handles.Close(), h.owner.Close()) }

// Descriptors returns how many files are open.
func (h *handles) Descriptors() int { return h.Handles.Descriptors() + h.owner.Descriptors() }

// handleCache holds files of sessions that stay open between writes. A write
// takes the handles that it uses out of the cache, so the cache may close what
// it holds at any time. The zero handleCache is empty.
type handleCache struct {
	mu   sync.Mutex // guards what follows
	open *cache.LRU[string, *handles]
}

// take removes the handles of session id and returns them, or nil.
func (h *handleCache) take(id string) *handles {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		return nil
	}
	open, _, _ := h.open.Remove(id)
	return open
}

// put caches handles for the next write of session id. It closes those that were
// used longest ago when there are more than maxHandles descriptors.
func (h *handleCache) put(id string, open *handles) (err error) {
	n := open.Descriptors()
	if n == 0 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		h.open = cache.New[string, *handles](maxHandles)
	}
	h.open.Put(id, open, int64(n))
	for h.open.Over() {
		_, oldest, _ := h.open.Evict()
		err = joinErrors(err, oldest.Close())
	}
	return err
}

// empty closes all handles, and reports whether there were any.
func (h *handleCache) empty() (some bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.open != nil && h.open.Len() > 0 {
		_, oldest, _ := h.open.Evict()
		some, err = true, joinErrors(err, oldest.Close())
	}
	return some, err
}
