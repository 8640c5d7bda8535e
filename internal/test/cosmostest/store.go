package cosmostest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Consistency is the default level of an account, which decides how old the answer of a
// replica that lags may be.
type Consistency int

// The levels, the strongest first. The account has one region: there, a read of
// BoundedStaleness sees the same as one of Strong.
const (
	Strong           Consistency = iota - 2 // all writes
	BoundedStaleness                        // all writes
	Session                                 // as new as the session token demands, or older
	ConsistentPrefix                        // the state of the replica, whatever the token
	Eventual                                // the state of the replica, whatever the token
)

var levels = []string{"Strong", "BoundedStaleness", "Session", "ConsistentPrefix", "Eventual"}

// String returns the service's name of the level.
func (c Consistency) String() string { return levels[c-Strong] }

// MarshalText returns the service's name of the level.
func (c Consistency) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText takes the service's name of a level.
func (c *Consistency) UnmarshalText(name []byte) error {
	i := slices.Index(levels, string(name))
	if i < 0 {
		return fmt.Errorf("level %q is none of %q", name, levels)
	}
	*c = Strong + Consistency(i)
	return nil
}

// MaxStale is how many writes of a container a replica may lack.
const MaxStale = 32

// A database holds containers by id. The Server's mutex guards it and all below it.
type database struct {
	rid        string
	containers map[string]*container
}

// A container holds the newest version of each document by partition and id; deleted ones
// too, for a while.
type container struct {
	rid string
	definition
	contentETags bool
	partitions   map[string]map[string]*version
	lsn          int64      // of the newest write; a batch is one write
	serial       int64      // of the newest version
	recent       []*version // that replicas may lack, the oldest first
	splitting    time.Time  // until then a split of physical partitions is completing
}

// A version is a document as a write left it. It is immutable except for prev, which is nil
// when no replica can lack the versions after it.
type version struct {
	key, id string // the partition's name, and the id
	lsn     int64
	born    int64    // serial of the document's first version: the order without ORDER BY
	body    document // nil: deleted
	data    []byte   // of body
	size    int      // bytes of data without the members that the service adds
	etag    string
	at      time.Time
	prev    *version
}

// A view is a container as of a write.
type view struct {
	*container
	lsn int64
}

func (c *container) newest() view { return view{c, c.lsn} }

// get returns a document, nil when it is not there.
func (v view) get(key, id string) *version { return v.live(v.partitions[key][id]) }

// live returns the version of a document that the view sees, nil when there is none.
func (v view) live(doc *version) *version {
	for doc != nil && doc.lsn > v.lsn {
		doc = doc.prev
	}
	if doc == nil || doc.body == nil {
		return nil
	}
	return doc
}

// list returns the documents of a partition, as they were made.
func (v view) list(key string) (out []*version) {
	for _, doc := range v.partitions[key] {
		if doc = v.live(doc); doc != nil {
			out = append(out, doc)
		}
	}
	slices.SortFunc(out, func(a, b *version) int { return cmp.Compare(a.born, b.born) })
	return out
}

// sessionToken returns how far the view has come, for the client to demand at its next read.
func (v view) sessionToken() string { return fmt.Sprintf(tokenShape, v.lsn) }

const tokenShape = "0:-1#%d"

// replica is the view that a read gets: the newest, or by a fault an older one, as far as the
// consistency of the account allows that.
func (c *container) replica(r *call, level Consistency) (view, *answer) {
	v := c.newest()
	if r.header.Get("x-ms-consistency-level") != "" {
		return v, fail(http.StatusBadRequest, "A consistency level for one request is not served here")
	}
	if level < Session {
		return v, nil
	}
	v.lsn -= int64(min(r.fault.Stale, MaxStale))
	token := r.header.Get("x-ms-session-token")
	if token == "" {
		return v, nil
	}
	var want int64
	_, err := fmt.Sscanf(token, tokenShape, &want)
	switch {
	case err != nil:
		return v, fail(http.StatusBadRequest, "The session token is invalid")
	case level > Session:
	case want > c.lsn:
		return v, failSub(http.StatusNotFound, subReadSessionNotAvailable, "The read session is not available for the input session token")
	default:
		v.lsn = max(v.lsn, want)
	}
	return v, nil
}

// A tx is a write of a container that can be taken back.
type tx struct {
	*container
	now     time.Time
	room    int // bytes of a partition; 0: no limit
	touched []*version
}

func (c *container) begin(at time.Time, room int) *tx {
	c.lsn++
	return &tx{container: c, now: at, room: room}
}

// put makes next the newest version of its document and adds the members that the service
// adds.
func (t *tx) put(next *version) *version {
	docs := t.partitions[next.key]
	if docs == nil {
		docs = map[string]*version{}
		t.partitions[next.key] = docs
	}
	t.serial++
	next.lsn, next.born, next.at, next.prev = t.lsn, t.serial, t.now, docs[next.id]
	if live := t.newest().live(next.prev); live != nil {
		next.born = live.born
	}
	if next.body != nil {
		rid := fmt.Sprintf("%s%06d", t.rid, next.born)
		next.etag = fmt.Sprintf(`"%08x-0000-0000-0000-%012x"`, t.lsn, t.serial)
		if t.contentETags {
			next.etag = fmt.Sprintf(`"%x"`, sha256.Sum256(next.body.own().json()))
		}
		next.size = sizeOf(next.body)
		next.body = append(next.body.own(),
			member{"_rid", quoted(rid)},
			member{"_self", quoted("dbs/" + t.rid[:4] + "/colls/" + t.rid + "/docs/" + rid + "/")},
			member{"_etag", quoted(next.etag)},
			member{"_attachments", `"attachments/"`},
			member{"_ts", number(float64(t.now.Unix()))})
		next.data = next.body.json()
	}
	docs[next.id] = next
	t.touched = append(t.touched, next)
	return next
}

// sizeOf returns how many bytes of its partition a document takes.
func sizeOf(d document) (n int) {
	for _, m := range d.own() {
		n += len(quoted(m.name)) + len(m.value) + len(":,")
	}
	return n + len("{}") - len(",")
}

// rollback takes back all writes, the latest first.
func (t *tx) rollback() {
	t.lsn--
	for _, v := range slices.Backward(t.touched) {
		if t.partitions[v.key][v.id] = v.prev; v.prev == nil {
			delete(t.partitions[v.key], v.id)
		}
	}
}

// commit forgets the versions that every replica has replaced.
func (t *tx) commit() {
	t.recent = append(t.recent, t.touched...)
	for len(t.recent) > 0 && t.recent[0].lsn <= t.lsn-MaxStale {
		v := t.recent[0]
		t.recent = t.recent[1:]
		if v.prev = nil; v.body == nil && t.partitions[v.key][v.id] == v {
			delete(t.partitions[v.key], v.id)
		}
	}
}

// clone copies a container without the versions that its replicas may lack.
func (c *container) clone() *container {
	next := *c
	next.recent, next.partitions = nil, map[string]map[string]*version{}
	for key, docs := range c.partitions {
		live := map[string]*version{}
		for id, doc := range docs {
			if doc.body != nil {
				last := *doc
				last.prev, live[id] = nil, &last
			}
		}
		next.partitions[key] = live
	}
	return &next
}
