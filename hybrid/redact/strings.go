package redact

import (
	"bytes"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// withinStrings cuts places so that a line that is JSON stays JSON. Built-in rules begin
// in a string, or find nothing outside of one in JSON: so they end where the string does.
// A pattern of the user may begin anywhere.
func withinStrings(line []byte, found []place) (out []place) {
	crossing := slices.ContainsFunc(found, func(p place) bool { return p.free || stringEnd(line[p.from:p.to]) < p.to-p.from })
	if !crossing || !isJSON(line) {
		return found
	}
	inside := stringsOf(line)
	for _, p := range found {
		if !p.free {
			p.to = p.from + stringEnd(line[p.from:p.to])
			out = append(out, p)
			continue
		}
		n, _ := slices.BinarySearchFunc(inside, p.from+1, func(s [2]int, at int) int { return s[1] - at })
		for ; n < len(inside) && inside[n][0] < p.to; n++ {
			part := p
			part.from, part.to = max(p.from, inside[n][0]), min(p.to, inside[n][1])
			if !inEscape(line, part.from) && !inEscape(line, part.to) { // otherwise a pattern matched digits of an escape
				out = append(out, part)
			}
		}
	}
	return out
}

// inEscape reports whether a place is behind the first byte of an escape.
func inEscape(line []byte, at int) bool {
	begins := func(i int) bool { // an escape
		n := i
		for n >= 0 && line[n] == '\\' {
			n--
		}
		return (i-n)%2 == 1
	}
	if at > 0 && begins(at-1) {
		return true
	}
	for i := at - 2; i >= max(0, at-5); i-- {
		if line[i] == '\\' && line[i+1] == 'u' && begins(i) {
			return true
		}
	}
	return false
}

// stringEnd returns the index of the first quote in text that is not escaped,
// or the length of text.
func stringEnd(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// isJSON reports whether a line is JSON, or a line of a JSON document that is
// spread over lines.
func isJSON(line []byte) bool {
	if pyjson.Check(line, pyjson.Tolerant) == nil {
		return true
	}
	part := bytes.TrimRight(bytes.TrimSpace(line), ",")
	if n := len(part); n > 0 && (part[n-1] == '{' || part[n-1] == '[') {
		part = append(bytes.Clone(part[:n-1]), '0')
	}
	for _, around := range []string{"{}", "[]"} {
		whole := append(append([]byte(around[:1]), part...), around[1])
		if pyjson.Check(whole, pyjson.Tolerant) == nil {
			return true
		}
	}
	return false
}

// stringsOf returns where the strings of a line of JSON are, without their
// quotes.
func stringsOf(line []byte) (all [][2]int) {
	for i := 0; i < len(line); {
		open := bytes.IndexByte(line[i:], '"')
		if open < 0 {
			break
		}
		from := i + open + 1
		to := from + stringEnd(line[from:])
		all = append(all, [2]int{from, to})
		i = to + 1
	}
	return all
}
