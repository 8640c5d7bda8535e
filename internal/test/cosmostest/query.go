package cosmostest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// queryShape is the query that this project sends. Two of its conditions may be left out.
var queryShape = regexp.MustCompile(`^SELECT c\.id, c\.label, c\.type, c\.v, c\._etag, c\._ts FROM c WHERE c\.pk = @pk AND c\.id > @after` +
	`( AND c\.id < @end)?( AND c\._ts >= @since)? ORDER BY c\.id$`)

// selected are the members that it selects.
var selected = []string{"id", "label", "type", "v", "_etag", "_ts"}

// A query holds the parameters of a query.
type query struct {
	part, after string
	end         *string // nil: there is none
	since       *int64
}

// parseQuery reads the body of a query. The error names no more of it than a parameter.
func parseQuery(body []byte) (q query, err error) {
	var given struct {
		Query      string
		Parameters []struct {
			Name  string
			Value json.RawMessage
		}
	}
	if json.Unmarshal(body, &given) != nil {
		return q, errors.New("the body is no query with parameters")
	}
	parts := queryShape.FindStringSubmatch(given.Query)
	if parts == nil {
		return q, errors.New("it is not the one that is served here")
	}
	wanted := map[string]any{"@pk": &q.part, "@after": &q.after}
	if parts[1] != "" {
		wanted["@end"] = &q.end
	}
	if parts[2] != "" {
		wanted["@since"] = &q.since
	}
	for _, p := range given.Parameters {
		to := wanted[p.Name]
		if to == nil {
			return q, fmt.Errorf("parameter %s is given twice, or not a part of it", p.Name)
		}
		if v, err := parseValue(p.Value); err != nil || v == "null" || json.Unmarshal([]byte(v), to) != nil {
			return q, fmt.Errorf("parameter %s is of another type", p.Name)
		}
		delete(wanted, p.Name)
	}
	for name := range wanted {
		return q, fmt.Errorf("parameter %s is missing", name)
	}
	return q, nil
}

// selects reports whether a document is selected.
func (q *query) selects(d *version) bool {
	at, _ := strconv.ParseInt(string(d.body.get("_ts")), 10, 64) // a text is no time
	return d.id > q.after && (q.end == nil || d.id < *q.end) && (q.since == nil || at >= *q.since)
}

// row returns the selected members of a document, without members that it does not have.
func row(d *version) []byte {
	var row document
	for _, name := range selected {
		if v := d.body.get(name); v != "" {
			row = append(row, member{name, v})
		}
	}
	return row.json()
}

const maxAnswer = 4 << 20 // bytes of a page

// query serves a page of a query for documents of one partition.
func (s *Server) query(c *call, box *container, key string) *answer {
	if c.header.Get("Content-Type") != "application/query+json" {
		return fail(http.StatusBadRequest, "A query has the content type application/query+json")
	}
	q, err := parseQuery(c.Body)
	switch {
	case err != nil:
		return fail(http.StatusBadRequest, "The query is invalid: %v", err)
	case nameOf(quoted(q.part)) != key:
		return fail(http.StatusBadRequest, "The query is for another partition than the one specified in the header")
	}
	v, no := box.replica(c, s.options.Consistency)
	if no != nil {
		return no
	}
	most, err := strconv.Atoi(c.header.Get("x-ms-max-item-count"))
	if err != nil || most < 1 {
		return fail(http.StatusBadRequest, "The value of x-ms-max-item-count is invalid")
	}
	if c.fault.Page != 0 {
		most = min(most, max(c.fault.Page, 0))
	}
	after, ok := parseCursor(c)
	if !ok {
		return fail(http.StatusBadRequest, "The continuation token is invalid")
	}
	docs := slices.DeleteFunc(v.list(key), func(d *version) bool { return !q.selects(d) })
	slices.SortFunc(docs, func(a, b *version) int { return cmp.Compare(a.id, b.id) })
	a := (&answer{status: http.StatusOK, charge: pageCharge}).tagged(v)
	for _, d := range docs {
		a.charge += loadFactor * ReadCharge(len(d.data))
	}
	a.page(c, docs, most, after)
	a.body = slices.Concat(fmt.Appendf(nil, `{"_rid":%s,"Documents":[`, quoted(box.rid)), a.body, fmt.Appendf(nil, `],"_count":%d}`, a.rows))
	return a.set("x-ms-item-count", strconv.Itoa(a.rows))
}

// page takes the rows of docs behind an id until the page is full. A page that is full to the
// last row has a continuation even when nothing follows, as in the service.
func (a *answer) page(c *call, docs []*version, most int, after string) {
	full := false
	for _, d := range docs {
		if d.id <= after {
			continue
		}
		row := row(d)
		if full = a.rows == most || a.rows > 0 && len(a.body)+len(row)+2 > maxAnswer-1<<10; full {
			break
		}
		if a.rows > 0 {
			a.body = append(a.body, ',')
		}
		a.body, after = append(a.body, row...), d.id
		a.rows++
	}
	if full || a.rows == most {
		a.set("x-ms-continuation", cursor(c.Body, after))
	}
}

// cursor returns a continuation for the client to bring back with the same query. It names the
// last row, so writes between two pages neither repeat nor hide another one.
func cursor(query []byte, after string) string {
	return base64.StdEncoding.EncodeToString([]byte(hashOf(query) + " " + after))
}

// parseCursor returns the id that the continuation of a call names; "" when there is none.
func parseCursor(c *call) (after string, ok bool) {
	token := c.header.Get("x-ms-continuation")
	if token == "" {
		return "", true
	}
	text, err := base64.StdEncoding.DecodeString(token)
	hash, after, _ := strings.Cut(string(text), " ")
	return after, err == nil && hash == hashOf(c.Body)
}

// hashOf binds a continuation to its query.
func hashOf(body []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(body)
	return strconv.FormatUint(h.Sum64(), 36)
}
