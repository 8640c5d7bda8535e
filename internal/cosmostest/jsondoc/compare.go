package jsondoc

import (
	"cmp"
	"slices"
)

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
