// Package cosmossql reads the queries that this project sends to Azure Cosmos DB:
//
//	SELECT c.id, c["end"] FROM c WHERE c.pk = @pk AND c.n > 5 ORDER BY c.updated DESC
//
// They select whole documents (*) or members of them, filter by comparisons with
// parameters, numbers and strings, and have one order. Every other query of the
// service's language is refused.
package cosmossql

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

const (
	member    = `c(?:\.\w+|\["\w+"\])`
	condition = member + ` (?:=|<=|>=|<|>) (?:@\w+|-?\d+|'[^'\\ ]*')`
)

var (
	queryShape = regexp.MustCompile(`^SELECT (\*|` + member + `(?:, ` + member + `)*) FROM c` +
		` WHERE (` + condition + `(?: AND ` + condition + `)*) ORDER BY (` + member + `)( DESC)?$`)
	memberShape = regexp.MustCompile(member)
)

// A Param is a parameter of a query: its name with the @, and its value as JSON.
type Param struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// A Query is a parsed query. It is immutable.
type Query struct {
	Order string // the member by which documents are sorted
	Desc  bool   // the greatest first

	members []string // that are selected; nil: all
	where   []filter
}

// A filter compares a member with a value.
type filter struct {
	member, op string
	value      jsondoc.Value
}

// Parse reads a query. An error names no more of it than a member or a parameter.
func Parse(text string, list []Param) (*Query, error) {
	values, err := params(list)
	if err != nil {
		return nil, err
	}
	parts := queryShape.FindStringSubmatch(text)
	if parts == nil {
		return nil, errors.New("the query is none of the shape SELECT … FROM c WHERE … AND … ORDER BY …")
	}
	q := &Query{Order: nameOf(parts[3]), Desc: parts[4] != ""}
	for _, m := range memberShape.FindAllString(parts[1], -1) {
		name := nameOf(m)
		if slices.Contains(q.members, name) {
			return nil, fmt.Errorf("the member %q is selected twice", name)
		}
		q.members = append(q.members, name)
	}
	for one := range strings.SplitSeq(parts[2], " AND ") {
		of, rest, _ := strings.Cut(one, " ")
		op, operand, _ := strings.Cut(rest, " ")
		f := filter{member: nameOf(of), op: op}
		switch operand[0] {
		case '@':
			given := false
			if f.value, given = values[operand]; !given {
				return nil, fmt.Errorf("the parameter %s has no value", operand)
			}
		case '\'':
			f.value = strings.Trim(operand, "'")
		default:
			if f.value, err = jsondoc.Parse([]byte(operand)); err != nil {
				return nil, fmt.Errorf("the number beside the member %q: %w", f.member, err)
			}
		}
		q.where = append(q.where, f)
	}
	return q, nil
}

// nameOf returns the name in c.name and c["name"].
func nameOf(member string) string { return strings.Trim(member[1:], `.["]`) }

// params reads the values of parameters, which are JSON.
func params(list []Param) (map[string]jsondoc.Value, error) {
	out := map[string]jsondoc.Value{}
	for _, one := range list {
		v, err := jsondoc.Parse(one.Value)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", one.Name, err)
		}
		if _, twice := out[one.Name]; twice {
			return nil, fmt.Errorf("parameter %s is given twice", one.Name)
		}
		out[one.Name] = v
	}
	return out, nil
}

// Filters returns the members that WHERE compares.
func (q *Query) Filters() []string {
	out := make([]string, len(q.where))
	for i, f := range q.where {
		out[i] = f.member
	}
	return out
}

// Keep reports whether a document passes WHERE.
func (q *Query) Keep(doc *jsondoc.Object) bool {
	return !slices.ContainsFunc(q.where, func(f filter) bool { return !f.holds(doc.Get(f.member)) })
}

// holds compares values of one type. What is not in the document, or of another type,
// passes no comparison, and neither do arrays and objects.
func (f filter) holds(v jsondoc.Value) bool {
	switch v.(type) {
	case nil, bool, float64, string:
	default:
		return false
	}
	if !jsondoc.SameType(v, f.value) {
		return false
	}
	c := jsondoc.Compare(v, f.value)
	switch f.op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	}
	return c == 0
}

// Key returns the value by which a document is sorted.
func (q *Query) Key(doc *jsondoc.Object) jsondoc.Value { return doc.Get(q.Order) }

// Compare compares the keys of two documents.
func (q *Query) Compare(a, b jsondoc.Value) int {
	if q.Desc {
		a, b = b, a
	}
	return jsondoc.Compare(a, b)
}

// Row returns what the query selects of a document, without the members that the
// document does not have.
func (q *Query) Row(doc *jsondoc.Object) *jsondoc.Object {
	if q.members == nil {
		return doc
	}
	var row []jsondoc.Member
	for _, name := range q.members {
		if v := doc.Get(name); v != (jsondoc.Undefined{}) {
			row = append(row, jsondoc.Member{Name: name, Value: v})
		}
	}
	return jsondoc.NewObject(row...)
}
