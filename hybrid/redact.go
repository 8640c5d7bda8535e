package hybrid

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// passes is how often a line is gone through at most until nothing is found
// any more: what stands beside a secret may be one only without it.
const passes = 5

// Line implements [Redactor].
func (s *secrets) Line(line []byte) []byte {
	for range passes {
		found := s.find(line)
		if len(found) == 0 {
			break
		}
		line = replaced(line, found)
	}
	return line
}

// layers is how many views of a line are searched: as it is, and without one,
// two and three layers of escapes.
const layers = 4

// place is a part of a line and the rule that found it; none for a part that
// is not to be touched.
type place struct {
	from, to int
	rule     string
}

// find returns the secrets in a line in ascending order. It looks at the line
// as it would be without JSON's escapes, and without those inside of these.
func (s *secrets) find(line []byte) (found []place) {
	var kept []place
	v := plainView(line)
	for range layers {
		kept = append(kept, s.signature.find(v)...)
		for i := range s.rules {
			found = append(found, s.rules[i].find(v)...)
		}
		next, ok := v.unescaped()
		if !ok {
			break
		}
		v = next
	}
	found = slices.DeleteFunc(found, func(p place) bool {
		return slices.ContainsFunc(kept, func(k place) bool { return p.from < k.to && k.from < p.to })
	})
	return disjoint(found)
}

// disjoint sorts places and drops what lies inside of another, or begins in
// one.
func disjoint(all []place) (out []place) {
	slices.SortStableFunc(all, func(a, b place) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	for _, p := range all {
		if len(out) == 0 || p.from >= out[len(out)-1].to {
			out = append(out, p)
			continue
		}
		out[len(out)-1].to = max(out[len(out)-1].to, p.to)
	}
	return out
}

func replaced(line []byte, found []place) []byte {
	out := make([]byte, 0, len(line))
	done := 0
	for _, p := range found {
		out = append(out, line[done:p.from]...)
		out = append(append(append(out, "[redacted:"...), p.rule...), ']')
		done = p.to
	}
	return append(out, line[done:]...)
}

// view is a line without some of its escapes, and where in the line each byte
// comes from.
type view struct {
	text   []byte
	places []int32 // of each byte, and of the end; nil: where they are
}

func plainView(line []byte) view { return view{text: line} }

func (v view) at(i int) int {
	if v.places == nil {
		return i
	}
	return int(v.places[i])
}

// unescaped returns the view without one more layer of escapes, and false when
// there are none.
func (v view) unescaped() (view, bool) {
	if bytes.IndexByte(v.text, '\\') < 0 {
		return v, false
	}
	next := view{text: make([]byte, 0, len(v.text)), places: make([]int32, 0, len(v.text)+1)}
	for i := 0; i < len(v.text); {
		if v.text[i] != '\\' {
			next.text, next.places = append(next.text, v.text[i]), append(next.places, int32(v.at(i)))
			i++
			continue
		}
		r, n := escapeAt(v.text[i:])
		if n == 0 {
			r, n = '\\', 1
		}
		before := len(next.text)
		next.text = utf8.AppendRune(next.text, r)
		for range len(next.text) - before {
			next.places = append(next.places, int32(v.at(i)))
		}
		i += n
	}
	next.places = append(next.places, int32(v.at(len(v.text))))
	return next, len(next.text) < len(v.text)
}

// escapeAt returns the character of the escape that text begins with, and the
// length of that; 0 when it is none.
func escapeAt(text []byte) (r rune, n int) {
	if len(text) < 2 || text[0] != '\\' {
		return 0, 0
	}
	switch text[1] {
	case '"', '\\', '/':
		return rune(text[1]), 2
	case 'n':
		return '\n', 2
	case 'b', 'f', 'r', 't':
		return ' ', 2
	case 'u':
		if len(text) < 6 {
			return 0, 0
		}
		for _, c := range text[2:6] {
			d := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
			if d < 0 {
				return 0, 0
			}
			r = r<<4 | rune(d)
		}
		return r, 6
	}
	return 0, 0
}
