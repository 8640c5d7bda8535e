package cosmostest

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/cosmossql"
)

// queryRequest serves a page of a query for documents of one partition.
func (s *Server) queryRequest(c *call, box *container) (*answer, *failure) {
	q, f := parseQuery(c)
	if f != nil {
		return nil, f
	}
	key, f := parseKey(c.header.Get(headerPartitionKey))
	if f != nil {
		return nil, f
	}
	if !box.index.has([]string{q.Order}) {
		return nil, fail(http.StatusBadRequest, "The index path corresponding to the specified order-by item is excluded")
	}
	v, f := s.replica(c, box)
	if f != nil {
		return nil, f
	}
	p, f := newPage(c, v, q)
	if f != nil {
		return nil, f
	}
	all := v.list(key)
	kept := slices.DeleteFunc(slices.Clone(all), func(d *version) bool { return !q.Keep(d.body) })
	p.fill(kept)
	loaded := kept
	if slices.ContainsFunc(q.Filters(), func(name string) bool { return !box.indexed(name) }) {
		loaded = all // a filter without an index looks at every document
	}
	return p.answer(loaded), nil
}

// parseQuery reads the body of a query.
func parseQuery(c *call) (*cosmossql.Query, *failure) {
	if c.header.Get("Content-Type") != "application/query+json" {
		return nil, fail(http.StatusBadRequest, "A query has the content type application/query+json")
	}
	var body struct {
		Query      string            `json:"query"`
		Parameters []cosmossql.Param `json:"parameters"`
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		return nil, fail(http.StatusBadRequest, "The query body is invalid")
	}
	q, err := cosmossql.Parse(body.Query, body.Parameters)
	if err != nil {
		return nil, fail(http.StatusBadRequest, "The query is invalid: %v", err)
	}
	return q, nil
}

// indexed reports whether a filter on a member needs no look at documents.
func (c *container) indexed(name string) bool { return name == c.key || c.index.has([]string{name}) }

// replica is the view that a read gets: the newest, or by a fault an older
// one, as far as the consistency of the account allows that.
func (s *Server) replica(c *call, box *container) (view, *failure) {
	v := box.now(c.At)
	level, session := rank(s.options.Consistency.String()), rank(Session.String())
	if asked := c.header.Get("x-ms-consistency-level"); asked != "" {
		i := rank(asked)
		if i < level {
			return v, fail(http.StatusBadRequest, "The consistency level is unknown, or stronger than that of the account")
		}
		level = i
	}
	if level < session {
		return v, nil
	}
	v.lsn -= int64(min(c.fault.Stale, MaxStale))
	token := c.header.Get("x-ms-session-token")
	if token == "" {
		return v, nil
	}
	want, ok := demanded(token)
	if !ok {
		return v, fail(http.StatusBadRequest, "The session token is invalid")
	}
	if level > session {
		return v, nil
	}
	if want > box.lsn {
		return v, failSub(http.StatusNotFound, subReadSessionNotAvailable, "The read session is not available for the input session token")
	}
	v.lsn = max(v.lsn, want)
	return v, nil
}
