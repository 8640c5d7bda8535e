package cosmossql

import (
	"math"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

type (
	value     = jsondoc.Value
	undefined = jsondoc.Undefined
)

// A row is what an expression is evaluated on: a document, and for aggregates
// all documents of its group.
type row struct {
	doc   value
	group []value
}

// An expr is a node of an expression. String returns its normal form: equal
// forms mean equal expressions.
type expr interface {
	eval(row) value
	children() []expr
	String() string
}

type constant struct{ v value }

func (c constant) eval(row) value   { return c.v }
func (c constant) children() []expr { return nil }
func (c constant) String() string   { return string(jsondoc.Append(nil, c.v)) }

// root is the document.
type root struct{}

func (root) eval(r row) value { return r.doc }
func (root) children() []expr { return nil }
func (root) String() string   { return "" }

// member is a member of an object or an item of an array.
type member struct{ of, key expr }

func (m member) eval(r row) value {
	of, key := m.of.eval(r), m.key.eval(r)
	switch of := of.(type) {
	case *jsondoc.Object:
		if name, ok := key.(string); ok {
			return of.Get(name)
		}
	case []value:
		if i, ok := key.(float64); ok && i >= 0 && i < float64(len(of)) && i == math.Trunc(i) {
			return of[int(i)]
		}
	}
	return undefined{}
}
func (m member) children() []expr { return []expr{m.of, m.key} }
func (m member) String() string   { return m.of.String() + "[" + m.key.String() + "]" }

// path returns the names that lead from the document to e, if e is no more.
func path(e expr) ([]string, bool) {
	if _, ok := e.(root); ok {
		return nil, true
	}
	m, ok := e.(member)
	if !ok {
		return nil, false
	}
	key, ok := m.key.(constant)
	if !ok {
		return nil, false
	}
	of, ok := path(m.of)
	switch name := key.v.(type) {
	case string:
		return append(of, name), ok
	case float64:
		return append(of, "[]"), ok
	}
	return nil, false
}

// list makes an array.
type list struct{ items []expr }

func (l list) eval(r row) value {
	out := make([]value, 0, len(l.items))
	for _, e := range l.items {
		if v := e.eval(r); v != (undefined{}) {
			out = append(out, v)
		}
	}
	return out
}
func (l list) children() []expr { return l.items }
func (l list) String() string   { return "[" + join(l.items) + "]" }

// object makes an object.
type object struct {
	names  []string
	values []expr
}

func (o object) eval(r row) value {
	out := jsondoc.NewObject()
	for i, e := range o.values {
		if v := e.eval(r); v != (undefined{}) {
			out = out.With(o.names[i], v)
		}
	}
	return out
}
func (o object) children() []expr { return o.values }
func (o object) String() string {
	return "{" + strings.Join(o.names, ",") + ":" + join(o.values) + "}"
}

// operation is an operator or a function with its operands.
type operation struct {
	name string
	args []expr
	do   func(args []value) value
}

func (o operation) eval(r row) value {
	args := make([]value, len(o.args))
	for i, e := range o.args {
		args[i] = e.eval(r)
	}
	return o.do(args)
}
func (o operation) children() []expr { return o.args }
func (o operation) String() string   { return o.name + "(" + join(o.args) + ")" }

// aggregate is a function of all documents of a group.
type aggregate struct {
	name string
	arg  expr
	do   func(values []value) value
}

func (a aggregate) eval(r row) value {
	values := make([]value, 0, len(r.group))
	for _, doc := range r.group {
		if v := a.arg.eval(row{doc: doc}); v != (undefined{}) {
			values = append(values, v)
		}
	}
	return a.do(values)
}
func (a aggregate) children() []expr { return []expr{a.arg} }
func (a aggregate) String() string   { return a.name + "(" + a.arg.String() + ")" }

func join(list []expr) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.String()
	}
	return strings.Join(out, ",")
}

func hasAggregate(e expr) bool {
	if _, ok := e.(aggregate); ok {
		return true
	}
	for _, c := range e.children() {
		if hasAggregate(c) {
			return true
		}
	}
	return false
}
