package workflow

import (
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/cache"
)

// end is the state of a log that its next writer needs.
type end struct {
	sessiondir.Tail
	ids    ids
	phases map[string]phase // of a phase log: the first record of each
	size   int64            // bytes of memory, roughly
}

// phase holds the parts of the first record of a phase that are needed later.
type phase struct {
	id            int64
	name, created string
}

// note takes a record of a phase into account.
func (e *end) note(phaseID string, first phase) {
	if _, known := e.phases[phaseID]; known {
		return
	}
	if e.phases == nil {
		e.phases = map[string]phase{}
	}
	e.phases[phaseID] = first
	const slot = 128
	e.size += slot + int64(len(phaseID)+len(first.name)+len(first.created))
}

// endsLimit is how many bytes of ends are cached. The last one always is.
const endsLimit = 8 << 20

// ends caches the ends of the logs that were written last.
type ends struct {
	mu   sync.Mutex // guards kept
	kept *cache.LRU[string, *cachedEnd]
}

type cachedEnd struct {
	key    string
	end    end
	synced uint64 // inode of the log whose name is known to be durable
}

const cachedEndSize = 256

// take removes the end cached under key and returns it, or nil.
func (es *ends) take(key string) *cachedEnd {
	es.mu.Lock()
	defer es.mu.Unlock()
	k, _, _ := es.kept.Remove(key)
	return k
}

// put caches k. It drops the ends used longest ago when there are too many.
func (es *ends) put(k *cachedEnd) {
	es.mu.Lock()
	defer es.mu.Unlock()
	es.kept.Put(k.key, k, min(cachedEndSize+k.end.size, endsLimit))
	for es.kept.Over() {
		es.kept.Evict()
	}
}

// nameSynced notes that the name of the log with this inode is durable.
func (es *ends) nameSynced(key string, inode uint64) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if k, ok := es.kept.Get(key); ok {
		k.synced = inode
	}
}
