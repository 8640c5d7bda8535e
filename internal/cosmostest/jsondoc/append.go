package jsondoc

import (
	"math"
	"strconv"
)

// Append appends v as JSON without white space. [Undefined] is left out of
// objects and is null elsewhere.
func Append(dst []byte, v Value) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case float64:
		return appendNumber(dst, v)
	case string:
		return AppendString(dst, v)
	case []Value:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = Append(dst, item)
		}
		return append(dst, ']')
	case *Object:
		return appendObject(dst, v)
	}
	return append(dst, "null"...)
}

func appendObject(dst []byte, o *Object) []byte {
	dst = append(dst, '{')
	first := true
	for _, m := range o.members {
		if _, none := m.Value.(Undefined); none {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(AppendString(dst, m.Name), ':')
		dst = Append(dst, m.Value)
	}
	return append(dst, '}')
}

// appendNumber writes a number as JavaScript does.
func appendNumber(dst []byte, f float64) []byte {
	size := math.Abs(f)
	if f == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(dst, f+0, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'e', -1, 64)
}

// AppendString appends s as a JSON string that escapes what it must.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}
