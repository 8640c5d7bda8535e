package jsondoc

import (
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
