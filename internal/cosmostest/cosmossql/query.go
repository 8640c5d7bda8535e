package cosmossql

import (
	"encoding/json"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// A Param is a parameter of a query: its name with the @, and its value as JSON.
type Param struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// An Order is one item of ORDER BY.
type Order struct {
	Path []string // from the document; items of arrays are "[]"
	Desc bool
	expr expr
}

// A Query is a parsed query. It is immutable.
type Query struct {
	Orders []Order
	Offset int
	Limit  int // -1: none; of LIMIT or TOP

	limited bool // by OFFSET and LIMIT, or TOP
	star    bool
	value   bool
	items   []item
	where   expr
	groups  []expr
	grouped bool // by GROUP BY or an aggregate
}

type item struct {
	name string
	expr expr
}

// Local reports whether the query can only be answered for one partition
// without a client that merges the answers of several.
func (q *Query) Local() bool { return q.grouped || q.limited || len(q.Orders) > 0 }

// Paths returns the properties that WHERE looks at, as "/a/b".
func (q *Query) Paths() (out []string) {
	var walk func(expr)
	walk = func(e expr) {
		if names, ok := path(e); ok && len(names) > 0 {
			out = append(out, "/"+strings.Join(names, "/"))
			return
		}
		for _, c := range e.children() {
			walk(c)
		}
	}
	if q.where != nil {
		walk(q.where)
	}
	return out
}

// Keep reports whether doc passes WHERE.
func (q *Query) Keep(doc *jsondoc.Object) bool {
	return q.where == nil || q.where.eval(row{doc: doc}) == true
}
