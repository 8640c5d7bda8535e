package cosmossql

import "github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"

// Keys returns the values that doc is ordered by.
func (q *Query) Keys(doc *jsondoc.Object) []jsondoc.Value {
	keys := make([]value, len(q.Orders))
	for i, o := range q.Orders {
		keys[i] = o.expr.eval(row{doc: doc})
	}
	return keys
}

// Compare compares keys of two documents as ORDER BY says.
func (q *Query) Compare(a, b []jsondoc.Value) int {
	for i, o := range q.Orders {
		c := jsondoc.Compare(a[i], b[i])
		if o.Desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// Grouped reports whether rows are made of groups of documents.
func (q *Query) Grouped() bool { return q.grouped }

// Row returns what is selected of doc, and whether that is anything.
func (q *Query) Row(doc *jsondoc.Object) (jsondoc.Value, bool) {
	return q.project(row{doc: doc})
}

// Groups returns the rows that are made of docs: one for each group in the
// order of their first documents, and one in all when there is no GROUP BY.
func (q *Query) Groups(docs []*jsondoc.Object) (out []jsondoc.Value) {
	var order []string
	groups := map[string]*row{}
	if len(q.groups) == 0 {
		order, groups[""] = []string{""}, &row{doc: undefined{}}
	}
	for _, doc := range docs {
		key := ""
		for _, g := range q.groups {
			v := g.eval(row{doc: doc})
			if v == (undefined{}) {
				key += "-"
			}
			key += string(jsondoc.Append(nil, v)) + "\n"
		}
		if groups[key] == nil {
			order, groups[key] = append(order, key), &row{doc: doc}
		}
		groups[key].group = append(groups[key].group, doc)
	}
	for _, key := range order {
		if v, ok := q.project(*groups[key]); ok {
			out = append(out, v)
		}
	}
	return out
}

func (q *Query) project(r row) (value, bool) {
	if q.star {
		return r.doc, true
	}
	if q.value {
		v := q.items[0].expr.eval(r)
		return v, v != (undefined{})
	}
	members := make([]jsondoc.Member, 0, len(q.items))
	for _, one := range q.items {
		if v := one.expr.eval(r); v != (undefined{}) {
			members = append(members, jsondoc.Member{Name: one.name, Value: v})
		}
	}
	return jsondoc.NewObject(members...), true
}
