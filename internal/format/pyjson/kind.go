package pyjson

import (
	"strconv"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds. Integers and floats differ in Python, and so do 1 and 1.0 in a file.
const (
	Invalid Kind = iota // not a value
	Object
	Array
	String
	Integer
	Float // NaN and the infinities too
	True
	False
	Null
)

// KindOf returns the kind of a value.
func KindOf(raw []byte) Kind {
	i := start(raw)
	if i == len(raw) {
		return Invalid
	}
	switch c := raw[i]; c {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't':
		return True
	case 'f':
		return False
	case 'n':
		return Null
	case 'N', 'I':
		return Float
	default:
		if c != '-' && c-'0' > 9 {
			return Invalid
		}
	}
	if isFloat(raw[i:]) {
		return Float
	}
	return Integer
}

// isFloat reports whether the number raw is a float in Python: it has a fraction or an exponent, or is not finite.
func isFloat(raw []byte) bool {
	for _, c := range raw {
		switch c {
		case '.', 'e', 'E', 'N', 'I':
			return true
		}
	}
	return false
}

// Int returns the integer raw. It reports false for other values and for integers beyond 64 bits.
func Int(raw []byte) (int64, bool) {
	raw = Trim(raw)
	if KindOf(raw) != Integer {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

// Truthy reports whether Python counts the value raw as true. A value that is
// missing counts as None.
func Truthy(raw []byte) bool {
	switch KindOf(raw) {
	case Invalid, Null, False:
		return false
	case String:
		return len(raw) > len(`""`)
	case Array:
		for range Elements(raw) {
			return true
		}
		return false
	case Object:
		for range Members(raw) {
			return true
		}
		return false
	case Integer, Float:
		value, _ := strconv.ParseFloat(string(raw), 64) // too large is an infinity, thus true
		return value != 0
	}
	return true
}
