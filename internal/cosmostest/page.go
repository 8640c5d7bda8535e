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
	set     bool
	keys    []jsondoc.Value
	born    int64
	skipped int // rows passed over for OFFSET
	taken   int // rows returned so far
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
		after, ok := parseCursor(token, hashOf(c.Body), len(q.Orders))
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

// group makes the rows of a query that groups documents, all on one page.
func (p *page) group(docs []*version) {
	bodies := make([]*jsondoc.Object, len(docs))
	for i, d := range docs {
		bodies[i] = d.body
	}
	rows := p.query.Groups(bodies)
	rows = rows[min(p.query.Offset, len(rows)):]
	if p.query.Limit >= 0 {
		rows = rows[:min(p.query.Limit, len(rows))]
	}
	p.rows = append(p.rows, rows...)
}

// fill takes rows from docs until the page is full. A page that is full to
// the last row has a continuation even when nothing follows, as in the
// service.
func (p *page) fill(docs []*version) {
	keys := make(map[*version][]jsondoc.Value, len(docs))
	for _, d := range docs {
		keys[d] = p.query.Keys(d.body)
	}
	slices.SortStableFunc(docs, func(a, b *version) int {
		return cmp.Or(p.query.Compare(keys[a], keys[b]), cmp.Compare(a.born, b.born))
	})
	for _, d := range docs {
		if p.after.set && cmp.Or(p.query.Compare(keys[d], p.after.keys), cmp.Compare(d.born, p.after.born)) <= 0 {
			continue
		}
		if p.done() {
			return
		}
		if len(p.rows) >= p.most || !p.take(d) {
			p.more = true
			return
		}
		p.after.set, p.after.keys, p.after.born = true, keys[d], d.born
	}
	p.more = len(p.rows) >= p.most && !p.done()
}

// done reports whether the query's limit is reached.
func (p *page) done() bool { return p.query.Limit >= 0 && p.after.taken >= p.query.Limit }

// take adds the row of a document, unless it does not fit any more.
func (p *page) take(d *version) bool {
	row, ok := p.query.Row(d.body)
	if !ok {
		return true
	}
	if p.after.skipped < p.query.Offset {
		p.after.skipped++
		return true
	}
	size := len(jsondoc.Append(nil, row)) + 1
	if len(p.rows) > 0 && p.bytes+size > maxAnswer-1<<10 {
		return false
	}
	p.bytes += size
	p.rows = append(p.rows, row)
	p.after.taken++
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
	a.set("x-ms-session-token", p.view.sessionToken(""))
	if p.more {
		a.set("x-ms-continuation", p.after.token(hashOf(p.call.Body)))
	}
	return a
}

// token writes a cursor for the client to bring back.
func (c cursor) token(query string) string {
	keys := make([]jsondoc.Value, len(c.keys))
	for i, k := range c.keys {
		keys[i] = []jsondoc.Value{k}
		if k == (jsondoc.Undefined{}) {
			keys[i] = []jsondoc.Value{}
		}
	}
	text := jsondoc.Append(nil, []jsondoc.Value{
		query, c.set, keys, float64(c.born), float64(c.skipped), float64(c.taken),
	})
	return base64.StdEncoding.EncodeToString(text)
}

func parseCursor(token, query string, orders int) (c cursor, ok bool) {
	text, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return c, false
	}
	v, err := jsondoc.Parse(text)
	parts, isList := v.([]jsondoc.Value)
	if err != nil || !isList || len(parts) != 6 || parts[0] != query {
		return c, false
	}
	keys, _ := parts[2].([]jsondoc.Value)
	for _, k := range keys {
		key, _ := k.([]jsondoc.Value)
		if len(key) == 0 {
			key = []jsondoc.Value{jsondoc.Undefined{}}
		}
		c.keys = append(c.keys, key[0])
	}
	c.set, _ = parts[1].(bool)
	number := func(v jsondoc.Value) float64 { f, _ := v.(float64); return f }
	c.born, c.skipped, c.taken = int64(number(parts[3])), int(number(parts[4])), int(number(parts[5]))
	return c, !c.set || len(c.keys) == orders
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
