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

// The queries that this project sends, every other one of the service's language is refused:
//
//	SELECT c.id, c["end"] FROM c WHERE c.pk = @pk AND c.n > 5 ORDER BY c.updated DESC
const (
	memberShape    = `c(?:\.\w+|\["\w+"\])`
	conditionShape = memberShape + ` (?:=|<=|>=|<|>) (?:@\w+|-?\d+|'[^'\\ ]*')`
)

var (
	queryShape = regexp.MustCompile(`^SELECT (\*|` + memberShape + `(?:, ` + memberShape + `)*) FROM c` +
		` WHERE (` + conditionShape + `(?: AND ` + conditionShape + `)*) ORDER BY (` + memberShape + `)( DESC)?$`)
	memberOf = regexp.MustCompile(memberShape)
)

// A Query selects documents by comparing members with texts and numbers, in one order.
type Query struct {
	Order string // the member by which documents are sorted
	Desc  bool   // the greatest first

	members []string // that are selected; nil: all
	where   []filter
}

type filter struct {
	member, op string
	value      value
}

// ParseQuery reads the body of a query as a client sends it. An error names no more of it than
// a member or a parameter.
func ParseQuery(body []byte) (q Query, err error) {
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
	values := map[string][]byte{}
	for _, one := range given.Parameters {
		if values[one.Name] != nil {
			return q, fmt.Errorf("parameter %s is given twice", one.Name)
		}
		values[one.Name] = one.Value
	}
	parts := queryShape.FindStringSubmatch(given.Query)
	if parts == nil {
		return q, errors.New("it is none of the shape SELECT … FROM c WHERE … AND … ORDER BY …")
	}
	q.Order, q.Desc = nameOf(parts[3]), parts[4] != ""
	for _, m := range memberOf.FindAllString(parts[1], -1) {
		if slices.Contains(q.members, nameOf(m)) {
			return q, fmt.Errorf("the member %q is selected twice", nameOf(m))
		}
		q.members = append(q.members, nameOf(m))
	}
	for one := range strings.SplitSeq(parts[2], " AND ") {
		words := strings.Split(one, " ")
		f := filter{member: nameOf(words[0]), op: words[1]}
		operand := []byte(words[2])
		if operand[0] == '@' {
			operand = values[words[2]]
		} else if operand[0] == '\'' {
			operand = []byte(quoted(strings.Trim(words[2], "'")))
		}
		if f.value, err = parseValue(operand); err != nil || f.value.rank() != rankString && f.value.rank() != rankString-1 {
			return q, fmt.Errorf("the member %q is compared with no text and no number", f.member)
		}
		q.where = append(q.where, f)
	}
	return q, nil
}

// nameOf returns the name in c.name and c["name"].
func nameOf(member string) string { return strings.Trim(member[1:], `.["]`) }

// Filters returns the members that WHERE compares.
func (q *Query) Filters() (names []string) {
	for _, f := range q.where {
		names = append(names, f.member)
	}
	return names
}

// holds compares values of one kind: a member that is of another, or is missing, passes no
// comparison.
func (f filter) holds(v value) bool {
	c := v.compare(f.value)
	return v.rank() == f.value.rank() && (c == 0 && strings.Contains(f.op, "=") || c < 0 && f.op[0] == '<' || c > 0 && f.op[0] == '>')
}

// row returns what the query selects of a document, without members that it does not have.
func (q *Query) row(doc *version) []byte {
	if q.members == nil {
		return doc.data
	}
	var row document
	for _, name := range q.members {
		if v := doc.body.get(name); v != "" {
			row = append(row, member{name, v})
		}
	}
	return row.json()
}

const (
	maxAnswer   = 4 << 20 // bytes of a page
	defaultPage = 100     // rows of a page when the client does not say
)

// query serves a page of a query for documents of one partition.
func (s *Server) query(c *call, box *container, key string) *answer {
	if c.header.Get("Content-Type") != "application/query+json" {
		return fail(http.StatusBadRequest, "A query has the content type application/query+json")
	}
	q, err := ParseQuery(c.Body)
	if err != nil {
		return fail(http.StatusBadRequest, "The query is invalid: %v", err)
	}
	if !box.index.has(q.Order) {
		return fail(http.StatusBadRequest, "The index path corresponding to the specified order-by item is excluded")
	}
	v, no := box.replica(c, s.options.Consistency)
	if no != nil {
		return no
	}
	most, no := rowsOf(c)
	if no != nil {
		return no
	}
	after, ok := parseCursor(c)
	if !ok {
		return fail(http.StatusBadRequest, "The continuation token is invalid")
	}
	loaded := v.list(key)
	kept := slices.DeleteFunc(slices.Clone(loaded), func(d *version) bool {
		return slices.ContainsFunc(q.where, func(f filter) bool { return !f.holds(d.body.get(f.member)) })
	})
	if !slices.ContainsFunc(q.Filters(), func(name string) bool { return name != box.key && !box.index.has(name) }) {
		loaded = kept // without an index for each filter the query looks at every document
	}
	a := (&answer{status: http.StatusOK}).tagged(v)
	a.page(c, &q, kept, most, after)
	a.charge = pageCharge
	for _, d := range loaded {
		a.charge += loadFactor * ReadCharge(len(d.data))
	}
	a.body = slices.Concat(fmt.Appendf(nil, `{"_rid":%s,"Documents":[`, quoted(box.rid)), a.body, fmt.Appendf(nil, `],"_count":%d}`, a.read))
	return a.set("x-ms-item-count", strconv.Itoa(a.read))
}

// rowsOf returns how many rows the client wants on a page, or a fault puts there.
func rowsOf(c *call) (int, *answer) {
	most := defaultPage
	if header := c.header.Get("x-ms-max-item-count"); header != "" {
		n, err := strconv.Atoi(header)
		if err != nil || n < -1 || n == 0 {
			return 0, fail(http.StatusBadRequest, "The value of x-ms-max-item-count is invalid")
		}
		if most = n; n == -1 {
			most = maxAnswer
		}
	}
	switch {
	case c.fault.Page < 0:
		most = 0
	case c.fault.Page > 0:
		most = min(most, c.fault.Page)
	}
	return most, nil
}

// page takes rows of docs after a place until the page is full. A page that is full to the
// last row has a continuation even when nothing follows, as in the service.
func (a *answer) page(c *call, q *Query, docs []*version, most int, after cursor) {
	places := map[*version]cursor{}
	for _, d := range docs {
		places[d] = cursor{true, d.body.get(q.Order), d.born}
	}
	slices.SortFunc(docs, func(x, y *version) int { return places[x].compare(places[y], q.Desc) })
	full := false
	for _, d := range docs {
		if after.set && places[d].compare(after, q.Desc) <= 0 {
			continue
		}
		row := q.row(d)
		if full = a.read == most || a.read > 0 && len(a.body)+len(row)+2 > maxAnswer-1<<10; full {
			break
		}
		if a.read > 0 {
			a.body = append(a.body, ',')
		}
		a.body, after = append(a.body, row...), places[d]
		a.read++
	}
	if full || a.read == most {
		a.set("x-ms-continuation", after.token(c.Body))
	}
}

// A cursor is the place after a row. It names the row by what it is ordered by, so writes
// between two pages neither repeat nor hide another row.
type cursor struct {
	set  bool
	key  value
	born int64
}

func (c cursor) compare(other cursor, desc bool) int {
	order := c.key.compare(other.key)
	if desc {
		order = -order
	}
	return cmp.Or(order, cmp.Compare(c.born, other.born))
}

// token writes a cursor for the client to bring back with the same query.
func (c cursor) token(query []byte) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s %d %s", hashOf(query), c.born, c.key))
}

// parseCursor reads the continuation of a call, if there is one.
func parseCursor(c *call) (at cursor, ok bool) {
	token := c.header.Get("x-ms-continuation")
	if token == "" {
		return at, true
	}
	text, err := base64.StdEncoding.DecodeString(token)
	parts := strings.SplitN(string(text), " ", 3)
	if err != nil || len(parts) < 3 || parts[0] != hashOf(c.Body) {
		return at, false
	}
	born, err := strconv.ParseInt(parts[1], 10, 64)
	return cursor{born > 0, value(parts[2]), born}, err == nil // 0: a page without rows came before
}

// hashOf binds a continuation to its query.
func hashOf(body []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(body)
	return strconv.FormatUint(h.Sum64(), 36)
}
