package cosmossql

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// A function has between least and most operands.
type function struct {
	least, most int
	do          func([]value) value
}

var functions = map[string]function{
	"IS_DEFINED":     {1, 1, func(a []value) value { return a[0] != (undefined{}) }},
	"IS_NULL":        {1, 1, func(a []value) value { return a[0] == nil }},
	"IS_BOOL":        isType[bool](),
	"IS_NUMBER":      isType[float64](),
	"IS_STRING":      isType[string](),
	"IS_ARRAY":       isType[[]value](),
	"IS_OBJECT":      isType[*jsondoc.Object](),
	"STARTSWITH":     search(strings.HasPrefix),
	"ENDSWITH":       search(strings.HasSuffix),
	"CONTAINS":       search(strings.Contains),
	"LOWER":          ofText(func(s string) value { return strings.ToLower(s) }),
	"UPPER":          ofText(func(s string) value { return strings.ToUpper(s) }),
	"LENGTH":         ofText(func(s string) value { return float64(utf8.RuneCountInString(s)) }),
	"ABS":            ofNumber(math.Abs),
	"FLOOR":          ofNumber(math.Floor),
	"CEILING":        ofNumber(math.Ceil),
	"ARRAY_CONTAINS": {2, 2, arrayContains},
	"ARRAY_LENGTH":   {1, 1, arrayLength},
}

func isType[T any]() function {
	return function{1, 1, func(a []value) value {
		_, ok := a[0].(T)
		return ok
	}}
}

func ofText(do func(string) value) function {
	return function{1, 1, func(a []value) value {
		if s, ok := a[0].(string); ok {
			return do(s)
		}
		return undefined{}
	}}
}

func ofNumber(do func(float64) float64) function {
	return function{1, 1, func(a []value) value {
		if f, ok := a[0].(float64); ok {
			return do(f)
		}
		return undefined{}
	}}
}

// search makes a function of two strings that a third operand, true, makes
// ignore case.
func search(find func(s, part string) bool) function {
	return function{2, 3, func(a []value) value {
		if len(a) == 3 && a[2] == true {
			return texts(func(s, part string) value { return find(strings.ToLower(s), strings.ToLower(part)) })(a[:2])
		}
		return texts(func(s, part string) value { return find(s, part) })(a[:2])
	}}
}

func arrayContains(a []value) value {
	items, ok := a[0].([]value)
	if !ok {
		return undefined{}
	}
	for _, item := range items {
		if jsondoc.Equal(item, a[1]) {
			return true
		}
	}
	return false
}

func arrayLength(a []value) value {
	if items, ok := a[0].([]value); ok {
		return float64(len(items))
	}
	return undefined{}
}

// aggregates are functions of the values that are defined.
var aggregates = map[string]func([]value) value{
	"COUNT": func(all []value) value { return float64(len(all)) },
	"SUM":   sum,
	"AVG": func(all []value) value {
		total, ok := sum(all).(float64)
		if !ok || len(all) == 0 {
			return undefined{}
		}
		return total / float64(len(all))
	},
	"MIN": func(all []value) value { return extreme(all, -1) },
	"MAX": func(all []value) value { return extreme(all, 1) },
}

// sum is undefined when a value is no number.
func sum(all []value) value {
	total := 0.0
	for _, v := range all {
		f, ok := v.(float64)
		if !ok {
			return undefined{}
		}
		total += f
	}
	return total
}

// extreme returns the value that compares to all others as sign says. It is
// undefined when a value is an array or an object, and for no values.
func extreme(all []value, sign int) value {
	var best value = undefined{}
	for _, v := range all {
		switch v.(type) {
		case []value, *jsondoc.Object:
			return undefined{}
		}
		if best == (undefined{}) || jsondoc.Compare(v, best)*sign > 0 {
			best = v
		}
	}
	return best
}
