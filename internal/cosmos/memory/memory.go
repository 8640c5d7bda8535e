// Package memory keeps documents in memory behind [cosmos.Conn], for tests of
// what sends and fetches them. It answers as the service does, at once and without
// a charge for units.
package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
)

// Container holds documents. The zero Container is empty. Its methods may be
// called by several goroutines.
type Container struct {
	// Refuse is asked before each request when it is not nil. The request is not
	// done when the answer has an error.
	Refuse func() cosmos.Answer
	// Now is the service's clock; nil is that of the machine.
	Now func() time.Time
	// Version names the version of a document that is stored; nil: no two are the same.
	Version func(body []byte) cosmos.ETag

	mu       sync.Mutex // guards what follows
	docs     map[string]map[string]*document
	versions int
}

// document is a document as it was stored.
type document struct {
	id, pk, Type, st, project string

	end     int64
	updated string
	etag    cosmos.ETag
	written time.Time
	body    []byte // with _etag and _ts
}

// Clone returns a container with the same documents, and no hooks.
func (c *Container) Clone() *Container {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &Container{docs: maps.Clone(c.docs), versions: c.versions} // partitions and documents never change
}

// Conn begins a piece of work.
func (c *Container) Conn(token string) cosmos.Conn { return &conn{c: c, token: token} }

type conn struct {
	c     *Container
	token string

	mu    sync.Mutex // guards what follows
	usage cosmos.Usage
	time  time.Time
}

func (c *conn) Token() string { return c.token }

func (c *conn) Time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *conn) Usage() cosmos.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.usage
}

// begin counts a request. It returns the answer for one that is refused.
func (c *conn) begin(ctx context.Context) (cosmos.Answer, bool) {
	if err := ctx.Err(); err != nil {
		return cosmos.Answer{Class: cosmos.Abandoned, Failed: -1, Err: err}, false
	}
	c.mu.Lock()
	c.usage.Requests++
	c.time = c.c.now()
	c.mu.Unlock()
	if c.c.Refuse != nil {
		if a := c.c.Refuse(); a.Err != nil {
			return a, false
		}
	}
	return cosmos.Answer{}, true
}

func (c *Container) now() time.Time {
	if c.Now == nil {
		return time.Now().UTC()
	}
	return c.Now().UTC()
}

// Get implements [cosmos.Conn].
func (c *conn) Get(ctx context.Context, pk, id string, known cosmos.ETag) (*cosmos.Document, error) {
	if a, ok := c.begin(ctx); !ok {
		return nil, a.Err
	}
	c.c.mu.Lock()
	defer c.c.mu.Unlock()
	d, ok := c.c.docs[pk][id]
	switch {
	case !ok:
		return nil, nil
	case d.etag == known:
		return &cosmos.Document{ETag: known, Same: true}, nil
	}
	return &cosmos.Document{Body: bytes.Clone(d.body), ETag: d.etag}, nil
}

// Query implements [cosmos.Conn]. It yields documents with all their members.
func (c *conn) Query(ctx context.Context, q cosmos.Query) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if a, ok := c.begin(ctx); !ok {
			yield(nil, a.Err)
			return
		}
		for _, d := range c.c.matching(q) {
			if !yield(bytes.Clone(d.body), nil) {
				return
			}
		}
	}
}

// Page implements [cosmos.Conn]. The continuation is the number of rows before
// the page.
func (c *conn) Page(ctx context.Context, q cosmos.Query, next string) (rows [][]byte, more string, err error) {
	if a, ok := c.begin(ctx); !ok {
		return nil, "", a.Err
	}
	all, from := c.c.matching(q), 0
	if next != "" {
		if from, err = strconv.Atoi(next); err != nil {
			return nil, "", fmt.Errorf("%w: %w", cosmos.ErrNoPage, err)
		}
	}
	for _, d := range all[min(from, len(all)):] {
		if len(rows) == pageRows {
			return rows, strconv.Itoa(from + len(rows)), nil
		}
		rows = append(rows, bytes.Clone(d.body))
	}
	return rows, "", nil
}

// pageRows is how many rows a page has at most.
const pageRows = 100

func (c *Container) matching(q cosmos.Query) []*document {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*document
	for d := range maps.Values(c.docs[q.PK]) {
		if (q.Type == "" || q.Type == d.Type) && (q.Project == "" || q.Project == d.project) &&
			(q.Stream == "" || q.Stream == d.st && d.end > q.After) && (q.Since == 0 || d.written.Unix() >= q.Since) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b *document) int {
		by := 0
		switch q.Order {
		case cosmos.ByEnd:
			by = cmp.Compare(a.end, b.end)
		case cosmos.Newest:
			by = cmp.Compare(b.updated, a.updated)
		case cosmos.ByWritten:
			by = cmp.Compare(a.written.Unix(), b.written.Unix())
		}
		return cmp.Or(by, cmp.Compare(a.id, b.id))
	})
	return all
}

// Batch implements [cosmos.Conn].
func (c *conn) Batch(ctx context.Context, pk string, ops ...cosmos.Op) cosmos.Answer {
	if len(ops) == 0 {
		return cosmos.Answer{Failed: -1}
	}
	if a, ok := c.begin(ctx); !ok {
		return a
	}
	a := c.c.apply(pk, ops)
	if a.Class != cosmos.OK {
		return a
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range ops {
		if op.Kind != cosmos.Remove {
			c.usage.Documents++
			c.usage.Bytes += int64(len(op.Body))
		}
	}
	return a
}

// apply makes all changes in a copy of the partition, which takes its place when
// none fails.
func (c *Container) apply(pk string, ops []cosmos.Op) cosmos.Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	docs := maps.Clone(c.docs[pk])
	if docs == nil {
		docs = map[string]*document{}
	}
	a := cosmos.Answer{Failed: -1}
	for i, op := range ops {
		etag, class := c.change(docs, pk, op)
		if class != cosmos.OK {
			return cosmos.Answer{Class: class, Failed: i, Err: fmt.Errorf("operation %d is refused: class %d", i, class)}
		}
		a.ETags = append(a.ETags, etag)
	}
	if c.docs == nil {
		c.docs = map[string]map[string]*document{}
	}
	c.docs[pk] = docs
	return a
}

func (c *Container) change(docs map[string]*document, pk string, op cosmos.Op) (cosmos.ETag, cosmos.Class) {
	if op.Kind == cosmos.Remove {
		d, there := docs[op.ID]
		switch {
		case !there:
			return "", cosmos.Missing
		case op.ETag != "" && d.etag != op.ETag:
			return "", cosmos.Changed
		}
		delete(docs, op.ID)
		return "", cosmos.OK
	}
	d, ok := c.decode(op.Body, pk)
	if !ok {
		return "", cosmos.Refused
	}
	was, there := docs[d.id]
	switch {
	case op.Kind == cosmos.Create && there:
		return "", cosmos.Exists
	case op.Kind == cosmos.Replace && !there:
		return "", cosmos.Missing
	case op.Kind == cosmos.Replace && was.etag != op.ETag:
		return "", cosmos.Changed
	}
	docs[d.id] = d
	return d.etag, cosmos.OK
}

// decode returns a document with a new version.
func (c *Container) decode(body []byte, pk string) (*document, bool) {
	var all map[string]json.RawMessage
	var known struct {
		ID, PK, Type, St, Project, Updated string
		End                                int64
	}
	if json.Unmarshal(body, &all) != nil || json.Unmarshal(body, &known) != nil || known.ID == "" || known.PK != pk {
		return nil, false
	}
	c.versions++
	d := &document{
		id: known.ID, pk: known.PK, Type: known.Type, st: known.St, project: known.Project, end: known.End, updated: known.Updated,
		etag: cosmos.ETag(strconv.Quote(strconv.Itoa(c.versions))), written: c.now(),
	}
	if c.Version != nil {
		d.etag = c.Version(body)
	}
	all["_etag"] = []byte(strconv.Quote(string(d.etag)))
	all["_ts"] = []byte(strconv.FormatInt(d.written.Unix(), 10))
	var err error
	d.body, err = json.Marshal(all)
	return d, err == nil
}
