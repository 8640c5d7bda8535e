package cosmostest

import (
	"cmp"
	"encoding/base64"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/cosmossql"
	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// A page is a part of the rows of a query, and where it ends.
type page struct {
	call  *call
	view  view
	query *cosmossql.Query
	most  int // rows
	after cursor
	rows  []jsondoc.Value
	bytes int
	more  bool
}

// A cursor is the place after a row. It names the row by what it is ordered
// by, so writes between two pages neither repeat nor hide another row.
type cursor struct {
	set  bool
	key  jsondoc.Value
	born int64
}

func newPage(c *call, v view, q *cosmossql.Query) (*page, *failure) {
	p := &page{call: c, view: v, query: q, most: defaultPage, rows: []jsondoc.Value{}}
	if header := c.header.Get("x-ms-max-item-count"); header != "" {
		n, err := strconv.Atoi(header)
		if err != nil || n < -1 || n == 0 {
			return nil, fail(http.StatusBadRequest, "The value of x-ms-max-item-count is invalid")
		}
		if p.most = n; n == -1 {
			p.most = maxAnswer
		}
	}
	if token := c.header.Get("x-ms-continuation"); token != "" {
		after, ok := parseCursor(token, hashOf(c.Body))
		if !ok {
			return nil, fail(http.StatusBadRequest, "The continuation token is invalid")
		}
		p.after = after
	}
	switch {
	case c.fault.Page < 0:
		p.most = 0
	case c.fault.Page > 0:
		p.most = min(p.most, c.fault.Page)
	}
	return p, nil
}

// fill takes rows from docs until the page is full. A page that is full to
// the last row has a continuation even when nothing follows, as in the
// service.
func (p *page) fill(docs []*version) {
	slices.SortStableFunc(docs, func(a, b *version) int {
		return cmp.Or(p.query.Compare(p.query.Key(a.body), p.query.Key(b.body)), cmp.Compare(a.born, b.born))
	})
	for _, d := range docs {
		key := p.query.Key(d.body)
		if p.after.set && cmp.Or(p.query.Compare(key, p.after.key), cmp.Compare(d.born, p.after.born)) <= 0 {
			continue
		}
		if len(p.rows) >= p.most || !p.take(d) {
			p.more = true
			return
		}
		p.after = cursor{true, key, d.born}
	}
	p.more = len(p.rows) >= p.most
}

// take adds the row of a document, unless it does not fit any more.
func (p *page) take(d *version) bool {
	row := p.query.Row(d.body)
	size := len(jsondoc.Append(nil, row)) + 1
	if len(p.rows) > 0 && p.bytes+size > maxAnswer-1<<10 {
		return false
	}
	p.bytes += size
	p.rows = append(p.rows, row)
	return true
}

func (p *page) answer(loaded []*version) *answer {
	sizes := make([]int, len(loaded))
	for i, d := range loaded {
		sizes[i] = len(d.data)
	}
	a := &answer{status: http.StatusOK, charge: QueryCharge(sizes...), read: len(p.rows)}
	a.body = listBody(p.view.rid, "Documents", p.rows)
	a.set("x-ms-item-count", strconv.Itoa(len(p.rows)))
	a.set("x-ms-session-token", p.view.sessionToken())
	if p.more {
		a.set("x-ms-continuation", p.after.token(hashOf(p.call.Body)))
	}
	return a
}

// token writes a cursor for the client to bring back. A document without the key has no
// third item.
func (c cursor) token(query string) string {
	parts := []jsondoc.Value{query, float64(c.born)}
	if c.key != (jsondoc.Undefined{}) {
		parts = append(parts, c.key)
	}
	return base64.StdEncoding.EncodeToString(jsondoc.Append(nil, parts))
}

func parseCursor(token, query string) (c cursor, ok bool) {
	text, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return c, false
	}
	v, err := jsondoc.Parse(text)
	parts, _ := v.([]jsondoc.Value)
	if err != nil || len(parts) < 2 || len(parts) > 3 || parts[0] != query {
		return c, false
	}
	born, ok := parts[1].(float64)
	c = cursor{true, jsondoc.Undefined{}, int64(born)}
	if len(parts) == 3 {
		c.key = parts[2]
	}
	return c, ok
}

const (
	maxAnswer   = 4 << 20 // bytes of a page
	defaultPage = 100     // rows of a page when the client does not say
)

func listBody(rid, name string, rows []jsondoc.Value) []byte {
	return jsondoc.Append(nil, jsondoc.NewObject(
		jsondoc.Member{Name: "_rid", Value: rid},
		jsondoc.Member{Name: name, Value: rows},
		jsondoc.Member{Name: "_count", Value: float64(len(rows))},
	))
}

// hashOf binds a continuation to its query.
func hashOf(body []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(body)
	return strconv.FormatUint(h.Sum64(), 36)
}
