package jsondoc

import (
	"cmp"
	"slices"
)

// A Value is nil, a bool, a float64, a string, a []Value, an [*Object] or
// [Undefined].
type Value any

// Undefined is the value of what a document does not have. It is in no document.
type Undefined struct{}

// A Member is a name and its value.
type Member struct {
	Name  string
	Value Value
}

// An Object is a list of members with unique names. Its zero value is empty.
type Object struct {
	members []Member
}

// NewObject returns an object of members, whose names the caller keeps unique.
func NewObject(members ...Member) *Object {
	return &Object{slices.Clone(members)}
}

// Members returns a copy of the members, in order.
func (o *Object) Members() []Member { return slices.Clone(o.members) }

// Get returns the member name, or [Undefined].
func (o *Object) Get(name string) Value {
	if i := o.find(name); i >= 0 {
		return o.members[i].Value
	}
	return Undefined{}
}

// String returns the member name if it is a string, else "".
func (o *Object) String(name string) string {
	s, _ := o.Get(name).(string)
	return s
}

// With returns o with the member name set to v: in its place, or as the last.
func (o *Object) With(name string, v Value) *Object {
	out := slices.Clone(o.members)
	if i := o.find(name); i >= 0 {
		out[i].Value = v
	} else {
		out = append(out, Member{name, v})
	}
	return &Object{out}
}

// Without returns o without the named members.
func (o *Object) Without(names ...string) *Object {
	out := make([]Member, 0, len(o.members))
	for _, m := range o.members {
		if !slices.Contains(names, m.Name) {
			out = append(out, m)
		}
	}
	return &Object{out}
}

func (o *Object) find(name string) int {
	return slices.IndexFunc(o.members, func(m Member) bool { return m.Name == name })
}

// At returns what v has at path, or [Undefined].
func At(v Value, path ...string) Value {
	for _, name := range path {
		o, ok := v.(*Object)
		if !ok {
			return Undefined{}
		}
		v = o.Get(name)
	}
	return v
}

// Compare orders values as ORDER BY does: undefined, null, false, true,
// numbers, strings, arrays, objects. Arrays are compared by their items,
// objects by their text.
func Compare(a, b Value) int {
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	switch a := a.(type) {
	case float64:
		return cmp.Compare(a, b.(float64))
	case string:
		return cmp.Compare(a, b.(string))
	case []Value:
		return slices.CompareFunc(a, b.([]Value), Compare)
	case *Object:
		return cmp.Compare(string(Append(nil, a)), string(Append(nil, b)))
	}
	return 0
}

// Equal reports whether a and b are the same value. The order of members is
// of no account.
func Equal(a, b Value) bool {
	x, ok := a.(*Object)
	y, also := b.(*Object)
	if !ok || !also {
		return ok == also && equalPlain(a, b)
	}
	if len(x.members) != len(y.members) {
		return false
	}
	for _, m := range x.members {
		if !Equal(m.Value, y.Get(m.Name)) {
			return false
		}
	}
	return true
}

func equalPlain(a, b Value) bool {
	x, ok := a.([]Value)
	y, also := b.([]Value)
	if ok && also {
		return slices.EqualFunc(x, y, Equal)
	}
	return Compare(a, b) == 0
}

// SameType reports whether a and b are of one type; false and true are.
func SameType(a, b Value) bool {
	_, x := a.(bool)
	_, y := b.(bool)
	return x && y || rank(a) == rank(b)
}

func rank(v Value) int {
	switch v := v.(type) {
	case nil:
		return 1
	case bool:
		if v {
			return 3
		}
		return 2
	case float64:
		return 4
	case string:
		return 5
	case []Value:
		return 6
	case *Object:
		return 7
	}
	return 0
}
