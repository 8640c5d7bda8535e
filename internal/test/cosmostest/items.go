package cosmostest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

const (
	maxID    = 1023 // bytes
	maxBatch = 100  // operations
)

// A write is one change of a document, asked for alone or in a batch.
type write struct {
	op      Op
	id      string // of replace and delete
	body    []byte // of the document
	ifMatch string // of replace
}

// item serves a request for one document.
func (s *Server) item(c *call, box *container, key string) *answer {
	known := c.header.Get("If-None-Match")
	if c.Op == OpRead {
		v, no := box.replica(c, s.options.Consistency)
		if no != nil {
			return no
		}
		return v.read(key, c.ID, known).tagged(v)
	}
	if known != "" || !c.minimal() {
		return fail(http.StatusBadRequest, "A write with If-None-Match, or that wants the document back, is not served here")
	}
	t := box.begin(c.At, s.options.PartitionBytes)
	a := t.apply(key, write{op: c.Op, id: c.ID, body: c.Body, ifMatch: c.header.Get("If-Match")})
	if a.failed() {
		t.rollback()
		return a
	}
	t.commit()
	return a.tagged(t.newest())
}

// tagged sets the headers for the client to name this state of the document and of v.
func (a *answer) tagged(v view) *answer {
	if a.etag != "" {
		a.set("etag", a.etag)
	}
	return a.set("x-ms-session-token", v.sessionToken())
}

const (
	noDocument = "Entity with the specified id does not exist in the system"
	noMatch    = "Operation cannot be performed because one of the specified precondition is not met"
)

// read returns a document, unless it is the one of which the client knows the etag.
func (v view) read(key, id, known string) *answer {
	doc := v.get(key, id)
	switch {
	case doc == nil:
		return refuse(http.StatusNotFound, noDocument)
	case known == doc.etag:
		return &answer{status: http.StatusNotModified, etag: doc.etag, charge: ReadCharge(0)}
	}
	return &answer{status: http.StatusOK, etag: doc.etag, body: doc.data, charge: ReadCharge(len(doc.data))}
}

// apply does one write of a transaction. When it fails, the caller takes back the writes
// before it.
func (t *tx) apply(key string, w write) *answer {
	next, no := t.draft(key, w)
	if no != nil {
		return no
	}
	old := t.newest().get(key, next.id)
	switch {
	case (w.ifMatch != "") != (w.op == OpReplace):
		return fail(http.StatusBadRequest, "Only a replacement, and each one, is served with If-Match here")
	case old == nil && (w.op == OpReplace || w.op == OpDelete):
		return refuse(http.StatusNotFound, noDocument)
	case old != nil && w.op == OpCreate:
		return refuse(http.StatusConflict, "Entity with the specified id already exists in the system")
	case w.op == OpReplace && w.ifMatch != old.etag:
		return refuse(http.StatusPreconditionFailed, noMatch)
	case t.isFull(old, next):
		return failSub(http.StatusForbidden, subPartitionFull, "Partition key reached maximum size")
	}
	a := &answer{status: http.StatusNoContent}
	switch t.put(next); {
	case next.body == nil:
		a.charge = WriteCharge(len(old.data))
		a.written = []written{{old.body.kind(), a.charge}}
		return a
	case old == nil:
		a.status, a.charge = http.StatusCreated, WriteCharge(len(next.data))
	default:
		a.status, a.charge = http.StatusOK, 2*WriteCharge(len(next.data))
	}
	a.etag, a.written = next.etag, []written{{next.body.kind(), a.charge}}
	return a
}

// isFull reports whether a partition has no room for a document in the place of old, which
// may be nil.
func (t *tx) isFull(old, next *version) bool {
	if t.room == 0 || next.body == nil {
		return false
	}
	more := sizeOf(next.body)
	if old != nil {
		more -= old.size
	}
	all := more
	for _, there := range t.newest().list(next.key) {
		all += there.size
	}
	return more > 0 && all > t.room
}

// draft reads the document that a write brings and checks it; a deletion brings none.
func (t *tx) draft(key string, w write) (*version, *answer) {
	if w.op == OpDelete {
		return &version{key: key, id: w.id}, nil
	}
	body, err := parseDocument(w.body)
	if err != nil {
		return nil, fail(http.StatusBadRequest, "The document body is invalid: %v", err)
	}
	next := &version{key: key, id: body.text("id"), body: body}
	switch own := body.get(t.key); {
	case body.get("ttl") != "":
		return nil, fail(http.StatusBadRequest, "The document has a time to live, which is not served here")
	case w.op == OpReplace && next.id != w.id:
		return nil, fail(http.StatusBadRequest, "The id of the document differs from that of the request")
	case next.id == "":
		return nil, fail(http.StatusBadRequest, "The input content is invalid because the required properties - 'id; ' - are missing")
	case len(next.id) > maxID:
		return nil, fail(http.StatusBadRequest, "The id is longer than %d bytes", maxID)
	case strings.ContainsAny(next.id, `/\?#`):
		return nil, fail(http.StatusBadRequest, "The id contains invalid characters")
	case nameOf(own) != key:
		return nil, failSub(http.StatusBadRequest, subPartitionKeyMismatch,
			"PartitionKey extracted from document doesn't match the one specified in the header")
	}
	return next, nil
}

// batch does the operations of a request all or none.
func (s *Server) batch(c *call, box *container, key string) *answer {
	if !c.isTrue("x-ms-cosmos-batch-atomic") {
		return fail(http.StatusBadRequest, "Only atomic batches are supported")
	}
	writes, no := parseBatch(c.Body)
	if no != nil {
		return no
	}
	reads := slices.ContainsFunc(writes, func(w write) bool { return w.op == OpRead })
	if slices.ContainsFunc(writes, func(w write) bool { return reads != (w.op == OpRead) || reads == c.minimal() }) {
		return fail(http.StatusBadRequest, "A batch that writes and wants documents back is not served here")
	}
	t := box.begin(c.At, s.options.PartitionBytes)
	var results []*answer
	for _, w := range writes {
		a := t.result(key, w)
		if results = append(results, a); a.failed() {
			t.rollback()
			break
		}
	}
	a := batchAnswer(results, len(writes))
	if a.status == http.StatusOK {
		t.commit()
	}
	return a.tagged(t.newest())
}

// result does one operation of a batch. A read sees the newest state.
func (t *tx) result(key string, w write) *answer {
	if w.op == OpRead {
		return t.newest().read(key, w.id, "")
	}
	return t.apply(key, w)
}

// parseBatch reads the operations of a batch.
func parseBatch(body []byte) ([]write, *answer) {
	var items []struct {
		OperationType, ID, IfMatch, IfNoneMatch string
		ResourceBody                            json.RawMessage
	}
	if err := json.Unmarshal(body, &items); err != nil || len(items) == 0 {
		return nil, fail(http.StatusBadRequest, "The batch is no list of operations")
	}
	if len(items) > maxBatch {
		return nil, fail(http.StatusBadRequest, "Batch request has more operations than what is supported")
	}
	ops := map[string]Op{"Create": OpCreate, "Upsert": OpUpsert, "Replace": OpReplace, "Delete": OpDelete, "Read": OpRead}
	out := make([]write, len(items))
	for i, o := range items {
		w := write{op: ops[o.OperationType], id: o.ID, body: o.ResourceBody, ifMatch: o.IfMatch}
		bare := w.op == OpDelete || w.op == OpRead
		needsID := w.op == OpReplace || bare
		if w.op == "" || o.IfNoneMatch != "" || bare != (len(w.body) == 0) || needsID && w.id == "" {
			return nil, fail(http.StatusBadRequest, "Operation %d of the batch is invalid", i)
		}
		out[i] = w
	}
	return out, nil
}

// batchAnswer gives the result of each of n operations. After a failed operation, which is
// the last of the results, all others are 424, and nothing was written.
func batchAnswer(results []*answer, n int) *answer {
	last := results[len(results)-1]
	a := &answer{status: http.StatusOK}
	if last.failed() {
		a.status, a.charge = http.StatusMultiStatus, refusedCharge*float64(len(results))
	}
	list := make([]string, n)
	for i := range list {
		r := &answer{status: http.StatusFailedDependency}
		if !last.failed() || i == len(results)-1 {
			r = results[i]
		}
		more := ""
		switch {
		case r.sub != 0:
			more = fmt.Sprintf(`,"subStatusCode":%d`, r.sub)
		case r.etag != "" && r.body != nil:
			more = `,"eTag":` + string(quoted(r.etag)) + `,"resourceBody":` + string(r.body)
		case r.etag != "":
			more = `,"eTag":` + string(quoted(r.etag))
		}
		list[i] = fmt.Sprintf(`{"statusCode":%d,"requestCharge":%s%s}`, r.status, number(r.charge), more)
		if !last.failed() {
			a.charge, a.written = a.charge+r.charge, append(a.written, r.written...)
		}
	}
	a.body = []byte("[" + strings.Join(list, ",") + "]")
	return a
}
