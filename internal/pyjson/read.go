package pyjson

import (
	"bytes"
	"iter"
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

// Values returns the values of the members of obj of those names, at most four of them: nil for one that is not there,
// and of several of one name the last. It goes through obj once. The values share obj's memory.
func Values(obj []byte, names ...string) (values [4][]byte) {
	for m := range Members(obj) {
		m.among(names, &values)
	}
	return values
}

// First returns the value at the start of b without what follows it.
func First(b []byte) []byte {
	end := skipValue(b, 0)
	return b[:end:end]
}

// KeyIs reports whether the key, a string with its quotes, is name.
func KeyIs(key []byte, name string) bool {
	text := inner(key)
	switch {
	case len(text) < len(name):
		return false // an escape is longer than what it stands for
	case len(text) == len(name):
		return string(text) == name && bytes.IndexByte(text, '\\') < 0
	case bytes.IndexByte(text, '\\') < 0:
		return false
	}
	var buf [64]byte
	return string(AppendText(buf[:0], key)) == name
}

// MayHold reports whether a string with word, which is of letters, digits, may be in raw.
// Only escapes \u could write it in another way.
func MayHold(raw []byte, word string) bool {
	return bytes.Contains(raw, []byte(word)) || bytes.Contains(raw, []byte(`\u`))
}

// among makes the member's value the one of its name, if that is one of the names.
func (m *Member) among(names []string, values *[4][]byte) {
	for i, name := range names {
		if KeyIs(m.Key, name) {
			values[i] = m.Value
		}
	}
}
