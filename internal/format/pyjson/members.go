package pyjson

import (
	"bytes"
	"iter"
	"strconv"
)

// Member is one member of an object.
type Member struct {
	Key     []byte // with its quotes
	Value   []byte
	KeyAt   int // offset of Key in the object
	ValueAt int // offset of Value in the object
}

// Members returns the members of an object in their order, all of them when several have one name. The slices share
// obj's memory. A value that is not an object has no members.
func Members(obj []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		i := enter(obj, '{')
		for i < len(obj) && obj[i] == '"' {
			key, keyEnd := i, skipString(obj, i)
			i = skipSpace(obj, keyEnd)
			if i == len(obj) || obj[i] != ':' {
				return
			}
			value := skipSpace(obj, i+1)
			i = skipValue(obj, value)
			if i == value || !yield(Member{obj[key:keyEnd], obj[value:i], key, value}) {
				return
			}
			i = afterComma(obj, i)
		}
	}
}

// Elements returns the elements of an array in their order. The slices share arr's memory. A value that is not an array
// has no elements.
func Elements(arr []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := enter(arr, '[')
		for i < len(arr) {
			end := skipValue(arr, i)
			if end == i || !yield(arr[i:end]) {
				return
			}
			i = afterComma(arr, end)
		}
	}
}

// Lookup returns the value of the last member of obj that is called name. The value shares obj's memory.
func Lookup(obj []byte, name string) (value []byte, ok bool) {
	for m := range Members(obj) {
		if KeyIs(m.Key, name) {
			value, ok = m.Value, true
		}
	}
	return value, ok
}

// Values returns the values of the members of obj of those names, at most four of them:
// nil for a missing member, and of several of one name the last. It goes through obj
// once. The values share obj's memory.
func Values(obj []byte, names ...string) (values [4][]byte) {
	for m := range Members(obj) {
		m.among(names, &values)
	}
	return values
}

// First returns the value at the start of b without the rest.
func First(b []byte) []byte {
	end := skipValue(b, 0)
	return b[:end:end]
}

// KeyIs reports whether the key, a string with its quotes, is name.
func KeyIs(key []byte, name string) bool {
	text := inner(key)
	switch {
	case len(text) < len(name):
		return false // an escape is longer than its character
	case len(text) == len(name):
		return string(text) == name && bytes.IndexByte(text, '\\') < 0
	case bytes.IndexByte(text, '\\') < 0:
		return false
	}
	var buf [64]byte
	return string(AppendText(buf[:0], key)) == name
}

// MayHold reports whether a string with word, which has only plain letters, digits and
// punctuation, may be in raw. Only escapes \u could write it in another way.
func MayHold(raw []byte, word string) bool {
	return bytes.Contains(raw, []byte(word)) || bytes.Contains(raw, []byte(`\u`))
}

// among sets the entry of values for the member's name, if it is one of the names.
func (m *Member) among(names []string, values *[4][]byte) {
	for i, name := range names {
		if KeyIs(m.Key, name) {
			values[i] = m.Value
		}
	}
}

// Pick returns the elements of an array in their order, each with the result of [Values].
// It goes through the text once, where Elements and Values would go twice. The slices
// share arr's memory.
func Pick(arr []byte, names ...string) iter.Seq2[[]byte, [4][]byte] {
	return func(yield func(element []byte, values [4][]byte) bool) {
		i := enter(arr, '[')
		for i < len(arr) {
			var values [4][]byte
			end := i
			if arr[i] == '{' {
				values, end = pick(arr, i, names)
			} else {
				end = skipValue(arr, i)
			}
			if end == i || !yield(arr[i:end], values) {
				return
			}
			i = afterComma(arr, end)
		}
	}
}

// pick returns the values of the object that begins at i, and the index behind it.
func pick(b []byte, i int, names []string) (values [4][]byte, end int) {
	end = i + 1
	for m := range Members(b[i:]) {
		end = i + m.ValueAt + len(m.Value)
		m.among(names, &values)
	}
	if end = skipSpace(b, end); end < len(b) && b[end] == '}' {
		end++
	}
	return values, end
}

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

// ArrayOf returns the array of the values.
func ArrayOf[V ~[]byte](values []V) []byte {
	arr := []byte{'['}
	for i, v := range values {
		if i > 0 {
			arr = append(arr, ", "...)
		}
		arr = append(arr, v...)
	}
	return append(arr, ']')
}

// Splice returns obj with value as the value of the last member called name, or with such
// a member at the end, in the object's own way of separating members. Every other byte is
// kept. The result shares no memory with obj. Anything but an object is returned
// unchanged.
func Splice(obj []byte, name string, value []byte) []byte {
	at, end := -1, -1
	var last Member
	count := 0
	for m := range Members(obj) {
		if KeyIs(m.Key, name) {
			at, end = m.ValueAt, m.ValueAt+len(m.Value)
		}
		last = m
		count++
	}
	if at >= 0 {
		return replace(obj, at, end, value)
	}
	open := start(obj)
	if open == len(obj) || obj[open] != '{' {
		return bytes.Clone(obj)
	}
	if count == 0 {
		member := AppendQuoted(nil, name, Style{})
		return replace(obj, open+1, open+1, append(append(member, ": "...), value...))
	}
	member := append([]byte{','}, gapBefore(obj, open, count, last)...)
	member = AppendQuoted(member, name, Style{})
	member = append(member, colon(obj, last)...)
	end = last.ValueAt + len(last.Value)
	return replace(obj, end, end, append(member, value...))
}

// replace returns a copy of b with text instead of b[at:end].
func replace(b []byte, at, end int, text []byte) []byte {
	out := make([]byte, 0, len(b)-(end-at)+len(text))
	out = append(out, b[:at]...)
	out = append(out, text...)
	return append(out, b[end:]...)
}

// colon returns the text between the key and the value of the member m.
func colon(obj []byte, m Member) []byte { return obj[m.KeyAt+len(m.Key) : m.ValueAt] }

// gapBefore returns the white space to put between a comma and a key behind the last of count members: as between the
// last two, or in an object of one member, as its indentation or colon suggest.
func gapBefore(obj []byte, open, count int, last Member) []byte {
	gap := last.KeyAt - len(bytes.TrimRight(obj[:last.KeyAt], " \t\n\r"))
	white := obj[last.KeyAt-gap : last.KeyAt]
	if count > 1 || bytes.IndexByte(white, '\n') >= 0 {
		return white
	}
	if bytes.HasSuffix(colon(obj, last), []byte(":")) {
		return nil
	}
	return []byte{' '}
}

// Remove returns obj without any member called name. The other members and their
// separators are kept. The result shares no memory with obj.
func Remove(obj []byte, name string) []byte {
	out := make([]byte, 0, len(obj))
	kept, end := 0, -1 // members kept; where the last member ended
	for m := range Members(obj) {
		if end < 0 {
			out = append(out, obj[:m.KeyAt]...)
		}
		if !KeyIs(m.Key, name) {
			if kept > 0 {
				out = append(out, obj[end:m.KeyAt]...)
			}
			out = append(out, obj[m.KeyAt:m.ValueAt+len(m.Value)]...)
			kept++
		}
		end = m.ValueAt + len(m.Value)
	}
	switch {
	case end < 0:
		return append(out, obj...)
	case kept == 0:
		out = append(out[:start(obj)+1], obj[skipSpace(obj, end):]...)
		return out
	}
	return append(out, obj[end:]...)
}

// redacted is written to a file in place of a secret.
const redacted = `"[REDACTED]"`

// longestSecret is the length of the longest name of a secret, in which a k may be a KELVIN SIGN of three bytes.
const longestSecret = len("authorization") + len("\u212a")

// isSecret reports whether the reference redacts members of this name: the name in lower case is one of a few, exactly.
// Of the characters beyond ASCII, Python lower-cases only the KELVIN SIGN to a single letter of ASCII.
func isSecret(name []byte) bool {
	if len(name) < len("auth") || len(name) > longestSecret {
		return false
	}
	var buf [longestSecret]byte
	lower := buf[:0]
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c == "\u212a"[0] && i+2 < len(name) && string(name[i:i+3]) == "\u212a":
			c = 'k'
			i += 2
		}
		lower = append(lower, c)
	}
	switch string(lower) {
	case "api_key", "apikey", "api-key", "secret", "password", "token", "credential", "credentials",
		"private_key", "privatekey", "auth", "authorization":
		return true
	}
	return false
}

// Without returns the array arr without the elements for which drop is true,
// and the number of elements that are left. If nothing is dropped it returns
// arr itself.
func Without(arr []byte, drop func(raw []byte) bool) (list []byte, left int) {
	all := 0
	list = []byte{'['}
	for raw := range Elements(arr) {
		all++
		if drop(raw) {
			continue
		}
		if left > 0 {
			list = append(list, ", "...)
		}
		list = append(list, raw...)
		left++
	}
	if left == all {
		return arr, left
	}
	return append(list, ']'), left
}
