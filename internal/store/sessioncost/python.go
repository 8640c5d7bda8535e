package sessioncost

import (
	"bytes"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// shown returns the text that Python's str makes of a value.
func shown(raw []byte) string {
	if pyjson.KindOf(raw) == pyjson.String {
		return pyjson.Text(raw)
	}
	return repr(raw)
}

// repr returns the text that Python's repr makes of a value.
func repr(raw []byte) string {
	switch pyjson.KindOf(raw) {
	case pyjson.String:
		return pyjson.Repr(pyjson.Text(raw))
	case pyjson.Null:
		return "None"
	case pyjson.True:
		return "True"
	case pyjson.False:
		return "False"
	case pyjson.Array:
		var list []string
		for e := range pyjson.Elements(raw) {
			list = append(list, repr(e))
		}
		return "[" + strings.Join(list, ", ") + "]"
	case pyjson.Object:
		var list []string
		for m := range pyjson.Members(raw) {
			list = append(list, repr(m.Key)+": "+repr(m.Value))
		}
		return "{" + strings.Join(list, ", ") + "}"
	}
	text, err := pyjson.Append(nil, raw, pyjson.Style{})
	if err != nil {
		return ""
	}
	return string(text)
}

// hasLone reports whether JSON that pyjson wrote, which has no other escapes of
// that form, holds a lone surrogate.
func hasLone(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+2 >= len(text) {
			return false
		}
		if text[i+1] == 'u' && text[i+2] == 'd' {
			return true
		}
		text = text[i+2:]
	}
}
