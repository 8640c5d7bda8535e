package hybrid

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// rule is a [secretRule] made ready. A regular expression is slow where it has
// to try every place of a text, so it is tried only where a plain search finds
// what it begins with.
type rule struct {
	secretRule
	begins *regexp.Regexp // the shape at the beginning of a text
	word   bool           // it begins at the boundary of a word
	fold   bool           // it ignores case
}

func compiled(r secretRule) rule {
	shape, fold := strings.CutPrefix(r.shape, "(?i)")
	shape, word := strings.CutPrefix(shape, `\b`)
	flags := ""
	if fold {
		flags = "(?i)"
	}
	return rule{secretRule: r, begins: regexp.MustCompile(flags + `\A(?:` + shape + `)`), word: word, fold: fold}
}

// find returns what the rule finds in a view, in ascending order.
func (r *rule) find(v view) (found []place) {
	if len(r.hints) > 0 && !slices.ContainsFunc(r.hints, func(h string) bool { return bytes.Contains(v.text, []byte(h)) }) {
		return nil
	}
	next := make([]int, 0, 8) // of each start the first place not before done
	for _, start := range r.starts {
		next = append(next, r.index(v.text, start, 0))
	}
	for done := 0; ; {
		at, which := len(v.text), -1
		for i, n := range next {
			if n < at {
				at, which = n, i
			}
		}
		if which < 0 {
			return found
		}
		if from := r.back.from(v.text, at, done); from >= done && !(r.word && within(v.text, from)) {
			if m := r.begins.FindSubmatchIndex(v.text[from:]); m != nil {
				done = from + m[1]
				if len(m) > 2 && m[2] >= 0 {
					m = m[2:]
				}
				if r.needs.met(v.text[from+m[0] : from+m[1]]) {
					found = append(found, place{from: v.at(from + m[0]), to: v.at(from + m[1]), rule: r.name})
				}
			}
		}
		for i, n := range next {
			if n < max(done, at+1) {
				next[i] = r.index(v.text, r.starts[i], max(done, at+1))
			}
		}
	}
}

// index returns the first place of start in text that is not before from, and
// the length of text when there is none.
func (r *rule) index(text []byte, start string, from int) int {
	if !r.fold {
		if i := bytes.Index(text[from:], []byte(start)); i >= 0 {
			return from + i
		}
		return len(text)
	}
	for ; from+len(start) <= len(text); from++ {
		i := bytes.IndexAny(text[from:], start[:1]+strings.ToUpper(start[:1]))
		if i < 0 {
			break
		}
		if from += i; len(text)-from >= len(start) && strings.EqualFold(string(text[from:from+len(start)]), start) {
			return from
		}
	}
	return len(text)
}

// from returns where a shape begins of which the text at is found, or -1.
// Nothing before done belongs to it.
func (b backward) from(text []byte, at, done int) int {
	switch b {
	case scheme:
		from := -1
		for i := at - 1; i >= max(done, at-21) && (letter(text[i]) || digit(text[i]) || bytes.IndexByte([]byte("+.-"), text[i]) >= 0); i-- {
			if i <= at-2 && letter(text[i]) && !within(text, i) {
				from = i
			}
		}
		return from
	case digits:
		from := at
		for from > max(done, at-10) && digit(text[from-1]) {
			from--
		}
		if at-from < 8 {
			return -1
		}
		return from
	}
	return at
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// within reports whether the byte at, of a word itself, goes on with a word.
func within(text []byte, at int) bool {
	if at == 0 {
		return false
	}
	c := text[at-1]
	return letter(c|0x20) || digit(c) || c == '_'
}

func (n need) met(text []byte) bool {
	has := func(lo, hi byte) bool {
		return slices.ContainsFunc(text, func(c byte) bool { return c >= lo && c <= hi })
	}
	return n == nothing || has('0', '9') && (n == aDigit || has('a', 'z') && has('A', 'Z'))
}
