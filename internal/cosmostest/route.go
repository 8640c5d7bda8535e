package cosmostest

import (
	"net/http"
	"net/url"
	"strings"
)

// route reads what a request is about from its method, path and headers.
func route(r *http.Request) (*call, *failure) {
	c := &call{header: r.Header, base: baseOf(r)}
	c.Method = r.Method
	c.Partition = canonicalHeader(r.Header.Get(headerPartitionKey))
	c.query = strings.EqualFold(r.Header.Get("x-ms-documentdb-query"), "true") ||
		strings.EqualFold(r.Header.Get("x-ms-documentdb-isquery"), "true")
	parts, err := split(r.URL.EscapedPath())
	if err != nil {
		return c, fail(http.StatusBadRequest, "The request path is invalid")
	}
	if f := c.resolve(parts); f != nil {
		return c, f
	}
	if c.feed {
		parts = parts[:len(parts)-1]
	}
	c.link = strings.Join(parts, "/")
	if c.Op = c.operation(); c.Op == "" {
		return c, fail(http.StatusMethodNotAllowed, "The requested verb is not supported on the resource")
	}
	return c, nil
}

// split cuts a path into its unescaped parts.
func split(escaped string) (parts []string, err error) {
	escaped = strings.Trim(escaped, "/")
	if escaped == "" {
		return nil, nil
	}
	for _, part := range strings.Split(escaped, "/") {
		name, err := url.PathUnescape(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, name)
	}
	return parts, nil
}

// resolve fills the names of what the path leads to.
func (c *call) resolve(parts []string) *failure {
	missing := fail(http.StatusNotFound, "The request path leads to nothing")
	if len(parts) == 0 {
		return nil
	}
	c.feed = len(parts)%2 == 1
	c.kind = resource(parts[(len(parts)-1)/2*2])
	owners := []resource{databases, colls, docs}
	if len(parts) > 2*len(owners) {
		return missing
	}
	names := []*string{&c.Database, &c.Container, &c.ID}
	for i, part := range parts {
		level := i / 2
		switch {
		case i%2 == 1 && part == "":
			return missing
		case i%2 == 1:
			*names[level] = part
		case resource(part) == owners[level]:
		default:
			return missing
		}
	}
	return nil
}

// operation names what the method does with the resource; "" when nothing.
func (c *call) operation() Op {
	switch c.kind {
	case account:
		return allow(OpAccount, c.Method == http.MethodGet)
	case docs:
		return c.itemOperation()
	}
	methods := http.MethodGet + " " + http.MethodPut + " " + http.MethodDelete
	if c.feed {
		methods = http.MethodPost
	}
	return allow(OpControl, strings.Contains(methods, c.Method))
}

func allow(op Op, ok bool) Op {
	if ok {
		return op
	}
	return ""
}

func (c *call) itemOperation() Op {
	if !c.feed {
		return map[string]Op{
			http.MethodGet: OpRead, http.MethodPut: OpReplace, http.MethodDelete: OpDelete,
		}[c.Method]
	}
	switch {
	case c.Method != http.MethodPost:
		return ""
	case c.query:
		return OpQuery
	case c.isTrue("x-ms-cosmos-is-batch-request"):
		return OpBatch
	case c.isTrue("x-ms-documentdb-is-upsert"):
		return OpUpsert
	}
	return OpCreate
}

func (c *call) isTrue(header string) bool { return strings.EqualFold(c.header.Get(header), "true") }

// baseOf returns the scheme and the host that the client used.
func baseOf(r *http.Request) string {
	scheme, host := r.URL.Scheme, r.URL.Host
	if host == "" {
		host = r.Host
	}
	if scheme == "" {
		if scheme = "http"; r.TLS != nil {
			scheme = "https"
		}
	}
	return scheme + "://" + host + "/"
}
