package slice

import (
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// value returns a copy of the JSON object that a message is.
func value(m sessionstore.Message) []byte { return pyjson.TrimSpace(m.AppendTo(nil)) }

// isObject reports whether a message is a JSON object. Load also returns lines
// that are other JSON values, as the reference does.
func isObject(m sessionstore.Message) bool {
	return m.Role() != "" || pyjson.KindOf(value(m)) == pyjson.Object
}

// optionalText returns the text of a JSON string, and nil for any other value.
func optionalText(raw []byte) *string {
	if pyjson.KindOf(raw) != pyjson.String {
		return nil
	}
	text := pyjson.Text(raw)
	return &text
}

// replaced returns the object line with changes in its member name, the array arr: the
// result of with replaces each element for which match is true. If there is no such element
// it returns line itself.
func replaced(line []byte, name string, arr []byte, with func([]byte) []byte, match func([]byte) bool) []byte {
	var list [][]byte
	changed := false
	for raw := range pyjson.Elements(arr) {
		if match(raw) {
			raw, changed = with(raw), true
		}
		list = append(list, raw)
	}
	if !changed {
		return line
	}
	return pyjson.Splice(line, name, pyjson.ArrayOf(list))
}

// setOf returns the set of the elements of list.
func setOf[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, v := range list {
		set[v] = true
	}
	return set
}
