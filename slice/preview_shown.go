package slice

import (
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// appendShown appends a value as Python's repr shows it, and not much more
// than limit bytes.
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

// appendObject shows of several members of one name the last, in the place of
// the first, as Python keeps them.
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

// comma separates what follows from what was appended since first.
func comma(dst []byte, first int) []byte {
	if len(dst) == first {
		return dst
	}
	return append(dst, ", "...)
}
