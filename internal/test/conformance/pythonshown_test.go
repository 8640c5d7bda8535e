package conformance

import (
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// pythonShown is a JSON value as Python's repr shows it.
func pythonShown(raw string) string {
	switch kindOf(raw) {
	case pyjson.Null:
		return "None"
	case pyjson.True:
		return "True"
	case pyjson.False:
		return "False"
	case pyjson.String:
		return pyjson.Repr(stringOf(raw))
	case pyjson.Array:
		list := elementsOf(raw)
		for i, element := range list {
			list[i] = pythonShown(element)
		}
		return listOf(list)
	case pyjson.Object:
		list := []string{}
		for _, m := range parseObject(raw) {
			list = append(list, pyjson.Repr(m.name)+": "+pythonShown(m.value))
		}
		return "{" + strings.Join(list, ", ") + "}"
	}
	return strings.NewReplacer("NaN", "nan", "Infinity", "inf").Replace(render(raw, pyjson.Style{}))
}
