package conformance

import (
	"slices"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// object is a JSON object as Python's dict: of members of one name the last
// value, at the place of the first.
type object []member

type member struct{ name, value string }

func parseObject(raw string) (obj object) {
	for m := range pyjson.Members(pyjson.Trim([]byte(raw))) {
		obj = obj.with(string(pyjson.AppendText(nil, m.Key)), string(m.Value))
	}
	return obj
}

// text is a JSON string.
func text(s string) string { return string(pyjson.Quote(s)) }

func (o object) index(name string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.name == name })
}

// get returns the member name, or null.
func (o object) get(name string) string {
	if i := o.index(name); i >= 0 {
		return o[i].value
	}
	return "null"
}

// with returns the object with the member name set to value.
func (o object) with(name, value string) object {
	o = slices.Clone(o)
	if i := o.index(name); i >= 0 {
		o[i].value = value
		return o
	}
	return append(o, member{name, value})
}

// update sets the members of other.
func (o object) update(other object) object {
	for _, m := range other {
		o = o.with(m.name, m.value)
	}
	return o
}

func (o object) String() string {
	s := "{"
	for i, m := range o {
		if i > 0 {
			s += ", "
		}
		s += text(m.name) + ": " + m.value
	}
	return s + "}"
}

// truthy reports whether Python takes a value for true.
func truthy(raw string) bool {
	switch kindOf(raw) {
	case pyjson.Null, pyjson.False:
		return false
	case pyjson.Integer, pyjson.Float:
		f, err := strconv.ParseFloat(raw, 64)
		return err != nil || f != 0
	}
	switch render(raw, pyjson.Style{}) {
	case `""`, "[]", "{}":
		return false
	}
	return true
}

// diskWins are the members of which a save keeps what is on disk.
func diskWins() []string {
	return []string{
		"name", "name_source", "name_revision", "name_updated_at", "name_generated_at",
		"description", "description_updated_at", "status", "manifest_name",
	}
}

// merged is what a save leaves where disk stood.
func (m *model) merged(disk, incoming object) object {
	all := disk.update(incoming)
	for _, name := range diskWins() {
		if i := disk.index(name); i >= 0 {
			all = all.with(name, disk[i].value)
		}
	}
	if all.String() != incoming.String() && m.f.by(metadataMerge) {
		return all
	}
	return incoming
}
