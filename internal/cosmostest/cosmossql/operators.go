package cosmossql

import (
	"math"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// and, or and not know three values: true, false and everything else.
func and(a []value) value {
	switch {
	case a[0] == false || a[1] == false:
		return false
	case a[0] == true && a[1] == true:
		return true
	}
	return undefined{}
}

func or(a []value) value {
	switch {
	case a[0] == true || a[1] == true:
		return true
	case a[0] == false && a[1] == false:
		return false
	}
	return undefined{}
}

func not(a []value) value {
	if b, ok := a[0].(bool); ok {
		return !b
	}
	return undefined{}
}

// comparable reports whether the operands have one type and are there.
func comparable(a []value) bool {
	return a[0] != (undefined{}) && jsondoc.SameType(a[0], a[1])
}

// equality compares values of one type, whatever it is.
func equality(want bool) func([]value) value {
	return func(a []value) value {
		if !comparable(a) {
			return undefined{}
		}
		return jsondoc.Equal(a[0], a[1]) == want
	}
}

// ordering compares scalars of one type.
func ordering(holds func(int) bool) func([]value) value {
	return func(a []value) value {
		switch a[0].(type) {
		case nil, bool, float64, string:
			if comparable(a) {
				return holds(jsondoc.Compare(a[0], a[1]))
			}
		}
		return undefined{}
	}
}

var comparisons = map[string]func([]value) value{
	"=":  equality(true),
	"!=": equality(false),
	"<>": equality(false),
	"<":  ordering(func(c int) bool { return c < 0 }),
	"<=": ordering(func(c int) bool { return c <= 0 }),
	">":  ordering(func(c int) bool { return c > 0 }),
	">=": ordering(func(c int) bool { return c >= 0 }),
}

func between(a []value) value {
	return and([]value{
		comparisons[">="]([]value{a[0], a[1]}),
		comparisons["<="]([]value{a[0], a[2]}),
	})
}

// in is an OR of equalities.
func in(a []value) value {
	var found value = false
	for _, v := range a[1:] {
		found = or([]value{found, comparisons["="]([]value{a[0], v})})
	}
	return found
}

func arithmetic(do func(x, y float64) float64) func([]value) value {
	return func(a []value) value {
		x, ok := a[0].(float64)
		y, also := a[1].(float64)
		if !ok || !also {
			return undefined{}
		}
		if z := do(x, y); !math.IsNaN(z) && !math.IsInf(z, 0) {
			return z
		}
		return undefined{}
	}
}

var arithmetics = map[string]func([]value) value{
	"+":  arithmetic(func(x, y float64) float64 { return x + y }),
	"-":  arithmetic(func(x, y float64) float64 { return x - y }),
	"*":  arithmetic(func(x, y float64) float64 { return x * y }),
	"/":  arithmetic(func(x, y float64) float64 { return x / y }),
	"%":  arithmetic(math.Mod),
	"||": texts(func(x, y string) value { return x + y }),
}

// texts makes a function of two strings.
func texts(do func(x, y string) value) func([]value) value {
	return func(a []value) value {
		x, ok := a[0].(string)
		y, also := a[1].(string)
		if !ok || !also {
			return undefined{}
		}
		return do(x, y)
	}
}

// like matches a pattern in which % stands for anything and _ for one
// character; escape, if not empty, makes the character after it plain.
func like(escape string) func([]value) value {
	return texts(func(s, pattern string) value {
		return matches([]rune(s), []rune(pattern), escape)
	})
}

func matches(s, pattern []rune, escape string) bool {
	for len(pattern) > 0 {
		c := pattern[0]
		switch {
		case escape != "" && strings.ContainsRune(escape, c) && len(pattern) > 1:
			if pattern = pattern[1:]; len(s) == 0 || s[0] != pattern[0] {
				return false
			}
		case c == '%':
			for i := range len(s) + 1 {
				if matches(s[i:], pattern[1:], escape) {
					return true
				}
			}
			return false
		case len(s) == 0 || c != '_' && c != s[0]:
			return false
		}
		s, pattern = s[1:], pattern[1:]
	}
	return len(s) == 0
}
