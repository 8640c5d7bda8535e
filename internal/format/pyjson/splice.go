package pyjson

import (
	"bytes"
)

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
