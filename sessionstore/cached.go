package sessionstore

import (
	"strings"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/cache"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// defaultCacheBytes bounds the cache unless Options.CacheBytes does.
const defaultCacheBytes = 64 << 20

// The names of a listing take an eighth of the bound at most, and metadata that
// was listed a quarter. Sessions take what these leave.
const (
	namesPart  = 8
	listedPart = 4
)

// sessionCache is all that a store remembers of sessions between calls. A
// session with a call under way is pinned: it stays, whatever it costs. The
// others make room in the order of their last use, so that they fit the bound.
type sessionCache struct {
	mu       sync.Mutex // guards what follows, and the pins of sessions
	sessions map[string]*session
	idle     *cache.LRU[string, *session] // those that no call uses
	listed   listed

	// Under the default bound one session may be larger than all of it: the one
	// used last among those. Its next save costs its new messages only, too.
	keepsLarge bool
	large      *session
}

// newSessionCache returns an empty cache with a bound of so many bytes. Zero
// stands for the default; a negative bound caches nothing.
func newSessionCache(bytes int64) *sessionCache {
	keepsLarge := bytes == 0
	if keepsLarge {
		bytes = defaultCacheBytes
	}
	bytes = max(bytes, 0)
	return &sessionCache{
		keepsLarge: keepsLarge,
		sessions:   map[string]*session{},
		idle:       cache.New[string, *session](bytes - bytes/namesPart),
		listed:     listed{of: cache.New[string, listedMetadata](bytes / listedPart)},
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

// putSmall caches what is known of s apart from its transcript, which is nearly
// always what is large. s may be nil.
func (c *sessionCache) putSmall(s *session) {
	if s == nil {
		return
	}
	s.cached = nil
	if !c.idle.Put(s.id, s, s.cost()) {
		c.drop(s)
	}
}

// evict drops the sessions used longest ago until the others fit the bound.
func (c *sessionCache) evict() {
	for c.idle.Over(c.listed.of.Cost()) {
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
	c.listed = listed{of: cache.New[string, listedMetadata](0)}
}

// listingBytes returns how much of the bound the names of a listing may take.
func listingBytes(bytes int64) int {
	if bytes == 0 {
		bytes = defaultCacheBytes
	}
	return int(min(max(bytes, 0)/namesPart, 1<<30))
}

// getListed returns the metadata of session id as it was listed, the zero
// listedMetadata when it is not cached.
func (c *sessionCache) getListed(id string) listedMetadata {
	c.mu.Lock()
	defer c.mu.Unlock()
	md, _ := c.listed.of.Get(id)
	return md
}

// putListed caches md if there is room; see [listed.put].
func (c *sessionCache) putListed(id string, md listedMetadata) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed.put(id, md)
	c.evict()
}

// noteListing counts a listing, and drops the metadata of sessions that it did
// not find; see [listed.dropGone].
func (c *sessionCache) noteListing(found []sessiondir.Entry, all bool) {
	c.listed.times.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed.dropGone(found, all)
}
