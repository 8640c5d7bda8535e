package cosmostest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// A resource is the type of the last part of a link.
type resource string

const (
	account   resource = ""
	databases resource = "dbs"
	colls     resource = "colls"
	docs      resource = "docs"
)

// A call is a request with all that the server needs to judge it.
type call struct {
	Request
	kind   resource
	link   string // the signed part: the resource, or the owner of the list
	base   string // scheme and host that the client used
	header http.Header
	fault  Fault
}

const (
	maxItem    = 2 << 20           // bytes of a document, and of a request
	maxRequest = 2*maxItem + 1<<20 // limit for reading a body: more is refused unread
	keyHeader  = "x-ms-documentdb-partitionkey"
	maxKey     = 2048 // bytes of a partition key
)

// newCall reads a request to its end, with its operation and the resource.
func newCall(r *http.Request) (c *call, no *answer, err error) {
	c = &call{header: r.Header.Clone(), base: baseOf(r)}
	c.Method, c.Partition = r.Method, r.Header.Get(keyHeader)
	if name, no := parseKey(c.Partition); no == nil {
		c.Partition = name
	}
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
		if c.Body, err = io.ReadAll(io.LimitReader(r.Body, maxRequest)); err != nil {
			return nil, nil, err
		}
	}
	no = c.route(r.URL.EscapedPath())
	switch {
	case no != nil:
	case len(c.Body) == maxRequest:
		no = fail(http.StatusRequestEntityTooLarge, "Request size is too large")
	case r.ContentLength >= 0 && r.ContentLength != int64(len(c.Body)):
		no = fail(http.StatusBadRequest, "The content length is not that of the body")
	}
	return c, no, nil
}

// baseOf returns the scheme and the host that the client used.
func baseOf(r *http.Request) string {
	if r.URL.Host != "" {
		return r.URL.Scheme + "://" + r.URL.Host + "/"
	}
	return "http://" + r.Host + "/"
}

// pathShape has kinds of resources, each before the name of one.
var pathShape = regexp.MustCompile(`^/?(?:(dbs)(?:/([^/]+)(?:/(colls)(?:/([^/]+)(?:/(docs)(?:/([^/]+))?)?)?)?)?)?/?$`)

// route fills in the resource that the path leads to.
func (c *call) route(path string) *answer {
	parts := pathShape.FindStringSubmatch(path)
	if parts == nil {
		return fail(http.StatusNotFound, "The request path leads to nothing")
	}
	what := c.Method + " "
	for i, name := range []*string{&c.Database, &c.Container, &c.ID} {
		kind, escaped := parts[2*i+1], parts[2*i+2]
		if kind == "" {
			break
		}
		c.kind, what = resource(kind), c.Method+" "+kind
		if *name, _ = url.PathUnescape(escaped); *name == "" { // the path was parsed before
			what += "/"
			break
		}
		c.link = strings.TrimPrefix(c.link+"/"+kind+"/"+*name, "/")
	}
	c.Op = operations[what]
	switch {
	case c.Op == "":
		return fail(http.StatusMethodNotAllowed, "The requested verb is not supported on the resource")
	case c.Op == OpCreate && c.isTrue("x-ms-documentdb-query"):
		c.Op = OpQuery
	case c.Op == OpCreate && c.isTrue("x-ms-cosmos-is-batch-request"):
		c.Op = OpBatch
	case c.Op == OpCreate && c.isTrue("x-ms-documentdb-is-upsert"):
		c.Op = OpUpsert
	}
	return nil
}

// operations are the operations by method and resource; a / marks lists of resources.
var operations = map[string]Op{
	"GET ": OpAccount, "POST dbs/": OpControl, "POST colls/": OpControl, "POST docs/": OpCreate,
	"GET colls": OpControl, "DELETE colls": OpControl,
	"GET docs": OpRead, "PUT docs": OpReplace, "DELETE docs": OpDelete,
}

func (c *call) isTrue(header string) bool { return strings.EqualFold(c.header.Get(header), "true") }

// minimal reports whether the client wants no document back from a write.
func (c *call) minimal() bool { return c.header.Get("Prefer") == "return=minimal" }

// parseKey returns the name of the partition that a header is about. The header is an array
// of one string.
func parseKey(header string) (string, *answer) {
	var values []json.RawMessage
	if err := json.Unmarshal([]byte(header), &values); err != nil || len(values) == 0 {
		return "", fail(http.StatusBadRequest, "The partition key in the header %s is missing or invalid", keyHeader)
	}
	if len(values) > 1 {
		return "", failSub(http.StatusBadRequest, subPartitionKeyMismatch,
			"The partition key supplied has more components than the container's definition")
	}
	v, err := parseValue(values[0])
	if err != nil {
		return "", fail(http.StatusBadRequest, "The partition key is invalid: %v", err)
	}
	return keyOf(v)
}

// keyOf returns the name of a partition: the header that a client sends for it.
func keyOf(v value) (string, *answer) {
	if !v.isText() || len(v.text()) > maxKey {
		return "", fail(http.StatusBadRequest, "The partition key is no string of at most %d bytes", maxKey)
	}
	return nameOf(v), nil
}

func nameOf(v value) string { return "[" + string(v) + "]" }
