package cosmostest

import (
	"net/http"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/cosmossql"
)

// queryRequest serves a page of a query for documents.
func (s *Server) queryRequest(c *call, box *container) (*answer, *failure) {
	q, f := parseQuery(c)
	if f != nil {
		return nil, f
	}
	match, f := scope(c, box, q)
	if f != nil {
		return nil, f
	}
	if f := box.index.serves(q.Orders); f != nil {
		return nil, f
	}
	v, f := s.replica(c, box)
	if f != nil {
		return nil, f
	}
	p, f := newPage(c, v, q)
	if f != nil {
		return nil, f
	}
	all := v.list(match)
	kept := slices.DeleteFunc(slices.Clone(all), func(d *version) bool { return !q.Keep(d.body) })
	if q.Grouped() {
		p.group(kept)
	} else {
		p.fill(kept)
	}
	loaded := kept
	if slices.ContainsFunc(q.Paths(), func(path string) bool { return !box.indexed(path) }) {
		loaded = all // a filter without an index looks at every document
	}
	return p.answer(loaded), nil
}

// indexed reports whether a filter on path needs no look at documents.
func (c *container) indexed(path string) bool {
	names := segments(path)
	return c.index.has(names) || slices.ContainsFunc(c.keys, func(k []string) bool { return slices.Equal(k, names) })
}

// scope tells which partitions a query or a feed is about. A query over
// several partitions must be one that the gateway can serve by itself.
func scope(c *call, box *container, q *cosmossql.Query) (func(*partition) bool, *failure) {
	inRange := func(*partition) bool { return true }
	header := c.header.Get(headerPartitionKey)
	if id := c.header.Get("x-ms-documentdb-partitionkeyrangeid"); id != "" {
		i := slices.IndexFunc(box.spans, func(s span) bool { return s.id == id })
		if i < 0 {
			return nil, failSub(http.StatusGone, subPartitionKeyRangeGone, "The partition key range is gone")
		}
		inRange = func(p *partition) bool { return box.spans[i].holds(p.hash) }
	} else if header == "" && q != nil {
		if !c.isTrue("x-ms-documentdb-query-enablecrosspartition") {
			return nil, fail(http.StatusBadRequest, "Cross partition query is required but disabled")
		}
		if q.Local() {
			return nil, failSub(http.StatusBadRequest, subCrossPartitionQuery,
				"The provided cross partition query can not be directly served by the gateway")
		}
	}
	if header == "" {
		return inRange, nil
	}
	key, f := parseKey(header, len(box.keys))
	if f != nil {
		return nil, f
	}
	name, prefix := keyText(key), len(key) < len(box.keys)
	return func(p *partition) bool {
		if !prefix {
			return p.key == name && inRange(p)
		}
		// ["a","b"] is a prefix of ["a","b","c"], not of ["a","bc"].
		start := name[:len(name)-1] + ","
		return len(p.key) > len(start) && p.key[:len(start)] == start && inRange(p)
	}, nil
}

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
