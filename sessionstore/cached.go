package sessionstore

import (
	"strings"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/store/cache"
)

// defaultCacheBytes bounds the cache unless Options.CacheBytes does.
const defaultCacheBytes = 64 << 20

// sessionCache holds all that a store remembers of sessions between calls. A session with
// a call under way is pinned: it stays, whatever it costs. The others make room in the
// order of their last use, so that they fit the bound.
type sessionCache struct {
	mu       sync.Mutex // guards the fields below, and the pins of sessions
	sessions map[string]*session
	idle     *cache.LRU[string, *session] // the sessions that no call uses

	// Under the default bound one session may be larger than the whole bound: the last
	// used of these large sessions. Its next save costs its new messages only, too.
	keepsLarge bool
	large      *session
}

// newSessionCache returns an empty cache with a bound of so many bytes. Zero means the
// default; a negative bound caches nothing.
func newSessionCache(bytes int64) *sessionCache {
	keepsLarge := bytes == 0
	if keepsLarge {
		bytes = defaultCacheBytes
	}
	bytes = max(bytes, 0)
	return &sessionCache{
		keepsLarge: keepsLarge,
		sessions:   map[string]*session{},
		idle:       cache.New[string, *session](bytes),
	}
}

// call pins session id for a call that was admitted, and returns it. The caller
// must [sessionCache.end] it.
func (c *sessionCache) call(id string) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	if s == nil {
		s = &session{id: strings.Clone(id), gate: make(chan struct{}, 1)}
		c.sessions[s.id] = s
	}
	if s.calls == 0 {
		c.idle.Remove(id)
	}
	if c.large == s {
		c.large = nil
	}
	s.calls++
	return s
}

// known returns the cached session id, nil when it is not cached.
func (c *sessionCache) known(id string) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sessions[id]
}

// end unpins s when no other call uses it.
func (c *sessionCache) end(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.calls--; s.calls == 0 {
		c.putIdle(s)
	}
}

// putIdle caches a session that no call uses, or drops it when there is nothing
// to cache or no room.
func (c *sessionCache) putIdle(s *session) {
	if !s.worthCaching() {
		c.drop(s)
		return
	}
	if !c.idle.Put(s.id, s, s.cost()) {
		small := s
		if c.keepsLarge {
			small, c.large = c.large, s
		}
		c.putSmall(small)
	}
	c.evict()
}

// putSmall caches s without its transcript, which is nearly always the large part. s may
// be nil.
func (c *sessionCache) putSmall(s *session) {
	if s == nil {
		return
	}
	s.cached = nil
	if !c.idle.Put(s.id, s, s.cost()) {
		c.drop(s)
	}
}

// evict drops the least recently used sessions until the others fit the bound.
func (c *sessionCache) evict() {
	for c.idle.Over() {
		_, s, _ := c.idle.Evict()
		c.drop(s)
	}
}

// drop removes s from the cache.
func (c *sessionCache) drop(s *session) {
	c.idle.Remove(s.id)
	delete(c.sessions, s.id)
}

// close empties the cache. No call is under way.
func (c *sessionCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.sessions)
	c.large = nil
	c.idle = cache.New[string, *session](0)
}
