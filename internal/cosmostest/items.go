package cosmostest

import (
	"net/http"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

const (
	maxItem = 2 << 20 // bytes of a document, and of a request
	maxID   = 1023    // bytes
)

// A write is one change of a document, asked for alone or in a batch.
type write struct {
	op      Op
	id      string // of replace, delete and read
	body    []byte // of the document
	ifMatch string
	ifNone  string
}

// item serves a request for one document.
func (s *Server) item(c *call, box *container) (*answer, *failure) {
	key, f := parseKey(c.header.Get(headerPartitionKey))
	if f != nil {
		return nil, f
	}
	w := write{op: c.Op, id: c.ID, body: c.Body, ifMatch: c.header.Get("If-Match"), ifNone: c.header.Get("If-None-Match")}
	if c.Op == OpRead {
		v, f := s.replica(c, box)
		if f != nil {
			return nil, f
		}
		return read(v, key, w).answer().set("x-ms-session-token", v.sessionToken()), nil
	}
	t := box.begin(c.At)
	t.room = s.options.PartitionBytes
	r := t.apply(key, w)
	if r.failure != nil {
		t.rollback()
		return nil, r.failure
	}
	t.commit()
	a := r.answer().set("x-ms-session-token", box.now(c.At).sessionToken())
	if c.minimal() {
		a.body = nil
	}
	return a, nil
}

// minimal reports whether the client wants no document back from a write.
func (c *call) minimal() bool { return c.header.Get("Prefer") == "return=minimal" }

// A result is what became of a write or a read.
type result struct {
	*failure
	status  int
	doc     *version // nil after a deletion
	charge  float64
	written *written
}

func (r result) answer() *answer {
	if r.failure != nil {
		return r.failure.answer()
	}
	a := &answer{status: r.status, charge: r.charge}
	if r.written != nil {
		a.written = []written{*r.written}
	}
	if r.doc == nil {
		return a
	}
	a.set("etag", r.doc.etag)
	if r.status != http.StatusNotModified {
		a.body = r.doc.data
	}
	if r.written == nil {
		a.read = 1
	}
	return a
}

// refuse is a failure that cost as much as a look.
func refuse(status int, format string, args ...any) result {
	f := fail(status, format, args...)
	f.charge = refusedCharge
	return result{failure: f}
}

// read serves a read of the document w.id.
func read(v view, key string, w write) result {
	doc := v.get(key, w.id)
	if doc == nil {
		return refuse(http.StatusNotFound, "Entity with the specified id does not exist in the system")
	}
	r := result{status: http.StatusOK, doc: doc, charge: ReadCharge(len(doc.data))}
	if w.ifNone != "" && (w.ifNone == "*" || w.ifNone == doc.etag) {
		r.status, r.charge = http.StatusNotModified, ReadCharge(0)
	}
	if w.ifMatch != "" && w.ifMatch != "*" && w.ifMatch != doc.etag {
		return refuse(http.StatusPreconditionFailed, "Operation cannot be performed because one of the specified precondition is not met")
	}
	return r
}

// apply does one write of a transaction. What it did before it failed is
// taken back by the caller.
func (t *tx) apply(key string, w write) result {
	id, next, f := t.draft(key, w)
	if f != nil {
		return result{failure: f}
	}
	old := t.container.now(t.now).get(key, id)
	if old == nil && (w.op == OpReplace || w.op == OpDelete) {
		return refuse(http.StatusNotFound, "Entity with the specified id does not exist in the system")
	}
	if old != nil && w.op == OpCreate {
		return refuse(http.StatusConflict, "Entity with the specified id already exists in the system")
	}
	if !matches(old, w) {
		return refuse(http.StatusPreconditionFailed, "Operation cannot be performed because one of the specified precondition is not met")
	}
	if next != nil && t.isFull(key, old, next) {
		return result{failure: failSub(http.StatusForbidden, subPartitionFull, "Partition key reached maximum size")}
	}
	return t.store(key, id, old, next)
}

// isFull reports whether a partition has no room for a document in the place of old, which
// may be nil.
func (t *tx) isFull(key string, old *version, doc *jsondoc.Object) bool {
	if t.room == 0 {
		return false
	}
	size := func(o *jsondoc.Object) int { return len(jsondoc.Append(nil, o.Without(systemMembers...))) }
	more := size(doc)
	if old != nil {
		more -= size(old.body)
	}
	if more <= 0 {
		return false
	}
	for _, there := range t.container.now(t.now).list(key) {
		more += size(there.body)
	}
	return more > t.room
}

// matches judges If-Match, and If-None-Match of writes: "*" wants the
// document to be there, or not.
func matches(old *version, w write) bool {
	if w.ifMatch != "" {
		if old == nil {
			return w.op == OpUpsert // it creates: there is nothing to match
		}
		if w.ifMatch != "*" && w.ifMatch != old.etag {
			return false
		}
	}
	return w.ifNone == "" || old == nil || w.ifNone != "*" && w.ifNone != old.etag
}

// draft reads the document that a write brings and checks it.
func (t *tx) draft(key string, w write) (id string, doc *jsondoc.Object, f *failure) {
	if w.op == OpDelete {
		return w.id, nil, nil
	}
	if len(w.body) > maxItem {
		return "", nil, fail(http.StatusRequestEntityTooLarge, "Request size is too large")
	}
	doc, err := jsondoc.ParseObject(w.body)
	if err != nil {
		return "", nil, fail(http.StatusBadRequest, "The document body is invalid: %v", err)
	}
	id = doc.String("id")
	if w.op == OpReplace && id != w.id {
		return "", nil, fail(http.StatusBadRequest, "The id of the document differs from that of the request")
	}
	return id, doc, t.admit(key, doc)
}

// admit checks a document that is to be stored under key.
func (t *tx) admit(key string, doc *jsondoc.Object) *failure {
	if f := checkID(doc.Get("id")); f != nil {
		return f
	}
	own, f := t.keyOf(doc)
	if f != nil {
		return f
	}
	if own != key {
		return failSub(http.StatusBadRequest, subPartitionKeyMismatch,
			"PartitionKey extracted from document doesn't match the one specified in the header")
	}
	_, f = parseTTL(doc.Get("ttl"))
	return f
}

func checkID(v jsondoc.Value) *failure {
	id, ok := v.(string)
	switch {
	case !ok || id == "":
		return fail(http.StatusBadRequest, "The input content is invalid because the required properties - 'id; ' - are missing")
	case len(id) > maxID:
		return fail(http.StatusBadRequest, "The id is longer than %d bytes", maxID)
	case strings.ContainsAny(id, `/\?#`):
		return fail(http.StatusBadRequest, "The id contains invalid characters")
	}
	return nil
}

// store makes next the document, or deletes it when next is nil.
func (t *tx) store(key string, id string, old *version, next *jsondoc.Object) result {
	if next == nil {
		t.put(key, &version{id: id, deleted: true})
		return result{
			status: http.StatusNoContent, charge: WriteCharge(len(old.data), old.terms),
			written: &written{old.body.String("type"), WriteCharge(len(old.data), old.terms)},
		}
	}
	ttl, _ := parseTTL(next.Get("ttl"))
	v := t.put(key, &version{id: id, body: next, ttl: ttl})
	r := result{status: http.StatusCreated, doc: v, charge: WriteCharge(len(v.data), v.terms)}
	if old != nil {
		r.status, r.charge = http.StatusOK, 2*r.charge
	}
	r.written = &written{next.String("type"), r.charge}
	return r
}
