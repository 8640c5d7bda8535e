package workflow

import (
	"container/list"
	"errors"
	"math"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// end is what the next writer of a log has to know of it.
type end struct {
	sessiondir.Tail
	lastID int64            // no record has a higher one, and no damaged line had
	phases map[string]phase // of a phase log: the first record of each
	size   int64            // bytes of memory, roughly
}

// phase is what stays of the first record of a phase.
type phase struct {
	id            int64
	name, created string
}

var errNoID = errors.New("no id is left")

// nextID returns an id that no record ever had.
func (e *end) nextID() (int64, error) {
	if e.lastID == math.MaxInt64 {
		return 0, errNoID
	}
	return e.lastID + 1, nil
}

// note takes the record r of a phase into account.
func (e *end) note(r *PhaseRecord) {
	if _, known := e.phases[r.PhaseID]; known {
		return
	}
	if e.phases == nil {
		e.phases = map[string]phase{}
	}
	e.phases[r.PhaseID] = phase{r.ID, r.PhaseName, r.CreatedAt}
	const slot = 128
	e.size += slot + int64(len(r.PhaseID)+len(r.PhaseName)+len(r.CreatedAt))
}

// endsLimit is how many bytes of ends are cached. The last one always is.
const endsLimit = 8 << 20

// ends caches the ends of the logs that were written last.
type ends struct {
	mu    sync.Mutex // guards what follows
	total int64
	order list.List // of *cachedEnd, the last used in front
	at    map[string]*list.Element
}

type cachedEnd struct {
	key    string
	end    end
	synced uint64 // inode of the log whose name is known to be durable
}

const cachedEndSize = 256

// take removes what is cached under key and returns it, or nil.
func (es *ends) take(key string) *cachedEnd {
	es.mu.Lock()
	defer es.mu.Unlock()
	e := es.at[key]
	if e == nil {
		return nil
	}
	return es.remove(e)
}

func (es *ends) remove(e *list.Element) *cachedEnd {
	k := es.order.Remove(e).(*cachedEnd)
	delete(es.at, k.key)
	es.total -= cachedEndSize + k.end.size
	return k
}

// put caches k. It drops those used longest ago when they are too many.
func (es *ends) put(k *cachedEnd) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if e := es.at[k.key]; e != nil {
		es.remove(e)
	}
	if es.at == nil {
		es.at = map[string]*list.Element{}
	}
	es.at[k.key] = es.order.PushFront(k)
	es.total += cachedEndSize + k.end.size
	for es.total > endsLimit && es.order.Len() > 1 {
		es.remove(es.order.Back())
	}
}

// nameSynced notes that the name of the log with this inode is durable.
func (es *ends) nameSynced(key string, inode uint64) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if e := es.at[key]; e != nil {
		e.Value.(*cachedEnd).synced = inode
	}
}
