package redact

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// layers is the number of views of a line that are searched: as it is, and without one,
// two and three layers of escapes.
const layers = 4

// view is a line without some of its escapes. It remembers where each of its
// bytes comes from.
type view struct {
	text  []byte
	under *view // the view with one layer more; nil: text is the line
	jumps []jump
}

// jump says that the byte at is the byte from of the view below. The bytes up
// to the next jump follow one by one.
type jump struct{ at, from int }

// at returns the place in the line of the byte i of the view.
func (v *view) at(i int) int {
	for ; v.under != nil; v = v.under {
		n := sort.Search(len(v.jumps), func(n int) bool { return v.jumps[n].at > i })
		if n > 0 {
			i = v.jumps[n-1].from + i - v.jumps[n-1].at
		}
	}
	return i
}

// unescaped returns the view without one more layer of escapes, and false when
// there are none.
func (v *view) unescaped() (*view, bool) {
	next := &view{under: v}
	done := 0
	for i := bytes.IndexByte(v.text, '\\'); i >= 0 && i < len(v.text); {
		r, n := escapeAt(v.text[i:])
		if n > 0 {
			if next.text == nil {
				next.text = make([]byte, 0, len(v.text))
			}
			next.text = append(next.text, v.text[done:i]...)
			at := len(next.text)
			next.text = utf8.AppendRune(next.text, r)
			for at++; at < len(next.text); at++ {
				next.jumps = append(next.jumps, jump{at, i})
			}
			next.jumps = append(next.jumps, jump{at, i + n})
			done = i + n
		}
		i += max(n, 1)
		more := bytes.IndexByte(v.text[i:], '\\')
		if more < 0 {
			break
		}
		i += more
	}
	if len(next.jumps) == 0 {
		return nil, false
	}
	next.text = append(next.text, v.text[done:]...)
	return next, true
}

// escapeAt returns the character of the escape that text begins with, and the length of
// the escape; 0 when there is none.
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
