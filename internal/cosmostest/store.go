package cosmostest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// A container holds documents by partition and id. The fields are guarded by
// the Server's mutex.
type container struct {
	id, rid    string
	properties *jsondoc.Object
	definition
	partitions map[string]*partition
	lsn        int64 // of the newest write; a batch is one write
	serial     int64 // of the newest version
	budget     budget
	graves     []grave
	splitting  time.Time // until then a split of physical partitions is completing
}

// A budget is how many request units a container spent in a second.
type budget struct {
	second int64
	spent  float64
}

type partition struct {
	docs map[string]*version // the newest of each id; deleted ones too, for a while
}

// A version is a document as a write left it. It is immutable except for
// prev, which is cut off when no replica can lack what came after.
type version struct {
	id      string
	lsn     int64
	born    int64 // serial of the document's first version: the order without ORDER BY
	body    *jsondoc.Object
	data    []byte
	etag    string
	ttl     int // seconds; 0: as the container says; -1: never
	terms   int
	at      time.Time
	deleted bool
	prev    *version
}

// A grave is a deleted document that may be forgotten some writes later.
type grave struct {
	lsn     int64
	key, id string
}

// A view is a container as of a write and a time.
type view struct {
	*container
	lsn int64
	now time.Time
}

func (c *container) now(at time.Time) view { return view{c, c.lsn, at} }

// get returns a document, nil when it is not there.
func (v view) get(key, id string) *version {
	p := v.partitions[key]
	if p == nil {
		return nil
	}
	return v.live(p.docs[id])
}

// live returns what the view sees of a document.
func (v view) live(doc *version) *version {
	for doc != nil && doc.lsn > v.lsn {
		doc = doc.prev
	}
	if doc == nil || doc.deleted || v.expired(doc) {
		return nil
	}
	return doc
}

func (v view) expired(doc *version) bool {
	ttl := doc.ttl
	if v.defaultTTL == 0 {
		return false
	}
	if ttl == 0 {
		ttl = v.defaultTTL
	}
	return ttl > 0 && v.now.Unix() >= doc.at.Unix()+int64(ttl)
}

// list returns the documents of a partition, as they were made.
func (v view) list(key string) (out []*version) {
	p := v.partitions[key]
	if p == nil {
		return nil
	}
	for _, doc := range p.docs {
		if doc = v.live(doc); doc != nil {
			out = append(out, doc)
		}
	}
	slices.SortFunc(out, func(a, b *version) int { return cmp.Compare(a.born, b.born) })
	return out
}

// A tx is a write of a container that can be taken back.
type tx struct {
	*container
	now     time.Time
	undo    []func()
	touched []*version
	names   []string // of the partitions of touched
	room    int      // bytes of a partition; 0: no limit
}

func (c *container) begin(at time.Time) *tx {
	t := &tx{container: c, now: at}
	lsn := c.lsn
	t.undo = append(t.undo, func() { c.lsn = lsn })
	c.lsn++
	return t
}

// rollback takes back all that was done, the latest first.
func (t *tx) rollback() {
	for _, undo := range slices.Backward(t.undo) {
		undo()
	}
}

// put makes next the newest version of the document at key and its id. The
// system's members are set here; size limits were checked before.
func (t *tx) put(key string, next *version) *version {
	p := t.partitions[key]
	if p == nil {
		p = &partition{docs: map[string]*version{}}
		t.partitions[key] = p
	}
	old := p.docs[next.id]
	t.serial++
	next.lsn, next.born, next.at, next.prev = t.lsn, t.serial, t.now, old
	if live := t.container.now(t.now).live(old); live != nil {
		next.born = live.born
	}
	if next.body != nil {
		t.stamp(next)
	}
	p.docs[next.id] = next
	t.touched, t.names = append(t.touched, next), append(t.names, key)
	t.undo = append(t.undo, func() {
		if p.docs[next.id] = old; old == nil {
			delete(p.docs, next.id)
		}
	})
	return next
}

// stamp adds the members that the service adds to a document.
func (t *tx) stamp(v *version) {
	rid := fmt.Sprintf("%s%06d", t.rid, v.born)
	v.etag = fmt.Sprintf(`"%08x-0000-0000-0000-%012x"`, t.lsn, t.serial)
	v.terms = t.index.terms(v.body)
	v.body = jsondoc.NewObject(append(v.body.Without(systemMembers...).Members(),
		jsondoc.Member{Name: "_rid", Value: rid},
		jsondoc.Member{Name: "_self", Value: "dbs/" + t.rid[:4] + "/colls/" + t.rid + "/docs/" + rid + "/"},
		jsondoc.Member{Name: "_etag", Value: v.etag},
		jsondoc.Member{Name: "_attachments", Value: "attachments/"},
		jsondoc.Member{Name: "_ts", Value: float64(t.now.Unix())})...)
	v.data = jsondoc.Append(nil, v.body)
}

var systemMembers = []string{"_rid", "_self", "_etag", "_attachments", "_ts"}

// commit forgets what no replica can lack any more.
func (t *tx) commit() {
	for i, v := range t.touched {
		if v.deleted {
			t.graves = append(t.graves, grave{v.lsn, t.names[i], v.id})
		}
		for at := v; at != nil; at = at.prev {
			if at.lsn <= t.lsn-MaxStale {
				at.prev = nil
			}
		}
	}
	for len(t.graves) > 0 && t.graves[0].lsn <= t.lsn-MaxStale {
		g := t.graves[0]
		t.graves = t.graves[1:]
		p := t.partitions[g.key]
		if p == nil || p.docs[g.id] == nil || !p.docs[g.id].deleted || p.docs[g.id].lsn != g.lsn {
			continue
		}
		if delete(p.docs, g.id); len(p.docs) == 0 {
			delete(t.partitions, g.key)
		}
	}
}

// sessionToken returns how far the view has come, for the client to demand at its next
// read.
func (v view) sessionToken() string { return fmt.Sprintf("0:-1#%d", v.lsn) }

// demanded returns the write that a session token asks for, of any physical
// partition that it names; 0 for none.
func demanded(token string) (lsn int64, ok bool) {
	for _, part := range strings.Split(token, ",") {
		var n int64
		_, vector, found := strings.Cut(part, ":")
		_, number, sharp := strings.Cut(vector, "#")
		if _, err := fmt.Sscanf(number, "%d", &n); err != nil || !found || !sharp {
			return 0, false
		}
		lsn = max(lsn, n)
	}
	return lsn, true
}

// A database holds containers by id. The fields are guarded by the Server's
// mutex.
type database struct {
	id, rid    string
	properties *jsondoc.Object
	containers map[string]*container
}
