package pyjson

import "strconv"

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
