package pyjson

import (
	"bytes"
	"iter"
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

// enter returns the index of the first byte behind the opening of the container b and white space, len(b) if b is
// something else.
func enter(b []byte, open byte) int {
	i := start(b)
	if i == len(b) || b[i] != open {
		return len(b)
	}
	return skipSpace(b, i+1)
}

// afterComma returns where the next member or element begins behind the value that ends at i, len(b) if there is none.
func afterComma(b []byte, i int) int {
	i = skipSpace(b, i)
	if i == len(b) || b[i] != ',' {
		return len(b)
	}
	return skipSpace(b, i+1)
}

// skipString returns the index behind the string that begins at i.
func skipString(b []byte, i int) int {
	if hasEnds && len(b) >= endBlock {
		return quoteIn(&b[0], i+1, len(b))
	}
	return plainSkipString(b, i)
}

// endBlock is how many bytes are looked at at once for the end of a value.
const endBlock = 64

func plainSkipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		slashes := 0
		for slashes < n && b[i+n-1-slashes] == '\\' {
			slashes++
		}
		i += n
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(b)
}

// skipValue returns the index behind the value that begins at i; i itself if none does.
func skipValue(b []byte, i int) int {
	if i == len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipContainer(b, i)
	}
	for i < len(b) && !endsScalar(b[i]) {
		i++
	}
	return i
}

// skipContainer returns the index behind the container that begins at i.
func skipContainer(b []byte, i int) int {
	if hasEnds && len(b) >= endBlock {
		return closeIn(&b[0], i, len(b))
	}
	return plainSkipContainer(b, i)
}

func plainSkipContainer(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = plainSkipString(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

func endsScalar(c byte) bool {
	switch c {
	case ',', ':', ']', '}', '[', '{', '"', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}
