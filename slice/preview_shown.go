package slice

import (
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// appendShown appends the repr that Python has for a JSON value. It stops soon
// after limit bytes.
func appendShown(dst, raw []byte, limit int) []byte {
	switch pyjson.KindOf(raw) {
	case pyjson.Object:
		return appendObject(dst, raw, limit)
	case pyjson.Array:
		dst = append(dst, '[')
		first := len(dst)
		for e := range pyjson.Elements(raw) {
			if dst = appendShown(comma(dst, first), e, limit); len(dst) > limit {
				break
			}
		}
		return append(dst, ']')
	case pyjson.String:
		return append(dst, pyjson.Repr(string(pyjson.AppendText(nil, raw)))...)
	case pyjson.True:
		return append(dst, "True"...)
	case pyjson.False:
		return append(dst, "False"...)
	case pyjson.Null:
		return append(dst, "None"...)
	}
	number, err := pyjson.Append(nil, raw, pyjson.Style{})
	if err != nil {
		number = raw
	}
	return append(dst, strings.NewReplacer("Infinity", "inf", "NaN", "nan").Replace(string(number))...)
}

// appendObject appends the repr of an object. If several members have one name,
// it shows the last value in the place of the first, as Python does.
func appendObject(dst, raw []byte, limit int) []byte {
	var keys []string
	values := map[string][]byte{}
	for m := range pyjson.Members(raw) {
		key := string(pyjson.AppendText(nil, m.Key))
		if _, ok := values[key]; !ok {
			keys = append(keys, key)
		}
		values[key] = m.Value
	}
	dst = append(dst, '{')
	first := len(dst)
	for _, key := range keys {
		dst = append(append(comma(dst, first), pyjson.Repr(key)...), ": "...)
		if dst = appendShown(dst, values[key], limit); len(dst) > limit {
			break
		}
	}
	return append(dst, '}')
}

// comma appends a comma if anything was appended since offset first.
func comma(dst []byte, first int) []byte {
	if len(dst) == first {
		return dst
	}
	return append(dst, ", "...)
}
