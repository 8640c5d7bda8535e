package checkpoint

import (
	"bytes"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

func quote(s string) []byte { return pyjson.AppendQuoted(nil, s, pyjson.Style{}) }

// join returns the array of items.
func join(items [][]byte) []byte {
	return append(append([]byte("["), bytes.Join(items, []byte(", "))...), ']')
}

// in returns the member name of obj, or an empty value in its place when it is
// missing or null.
func in(obj []byte, name, empty string) []byte {
	v, found := pyjson.Lookup(obj, name)
	if !found || pyjson.KindOf(v) == pyjson.Null {
		return []byte(empty)
	}
	return v
}

// added returns obj with item at the end of the array name.
func added(obj []byte, name string, item []byte) ([]byte, error) {
	list := in(obj, name, "[]")
	if pyjson.KindOf(list) != pyjson.Array {
		return nil, fmt.Errorf("add to %s: not an array", name)
	}
	var items [][]byte
	for v := range pyjson.Elements(list) {
		items = append(items, v)
	}
	return pyjson.Splice(obj, name, join(append(items, item))), nil
}

// encodeObject encodes v, which must be an object in JSON.
func encodeObject(v any) ([]byte, error) {
	raw, err := pyjson.Encode(v)
	if err != nil {
		return nil, err
	}
	raw = pyjson.Trim(raw)
	if pyjson.KindOf(raw) != pyjson.Object {
		return nil, fmt.Errorf("not an object")
	}
	return raw, nil
}

// stamp returns t as it is written: RFC 3339 in UTC with milliseconds.
func stamp(t time.Time) []byte {
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05.000Z"`))
}

// textOf returns a text, or "" where the value is something else.
func textOf(v []byte) string {
	if pyjson.KindOf(v) != pyjson.String {
		return ""
	}
	return pyjson.Text(v)
}
