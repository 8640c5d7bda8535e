package keyword

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// filter finds from the raw bytes of a transcript the lines that cannot hold a keyword.
//
// It looks for a run of the keyword that has the same bytes in the line and in the row
// that is written anew, except for the case of ASCII letters. This is true of characters
// within one string or literal, where the line has no escape \u of one of them; quotes,
// backslashes, slashes, spaces and punctuation between values may differ, and so may a
// number.
type filter struct {
	run   []byte // in lower case; empty: every line may hold the keyword
	rare  Pair   // the two bytes of run that are seldom
	skip  int    // how many bytes of run are before them
	ascii bool   // run has only ASCII bytes
	k, i  bool   // run has a letter that is also the lower case of one beyond ASCII
}

// newFilter returns the filter of a keyword in lower case.
func newFilter(lower string) filter {
	var f filter
	for _, run := range strings.FieldsFunc(lower, func(r rune) bool { return !steady(r) }) {
		if len(run) > len(f.run) && !numeric(run) {
			f.run = []byte(run)
		}
	}
	if len(f.run) == 0 {
		return f
	}
	places := make([]int, len(f.run))
	f.ascii = true
	for i, c := range f.run {
		places[i] = i
		f.ascii = f.ascii && c < utf8.RuneSelf
	}
	slices.SortStableFunc(places, func(a, b int) int { return rarity(f.run[b]) - rarity(f.run[a]) })
	first, second := places[0], places[min(1, len(places)-1)]
	f.rare, f.skip = NewPair(f.run, first, second), min(first, second)
	f.k, f.i = bytes.IndexByte(f.run, 'k') >= 0, bytes.IndexByte(f.run, 'i') >= 0
	return f
}

// steady reports whether r has the same bytes in a line and in the row written anew, and
// is the lower case only of itself and of ASCII letters.
func steady(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && !strings.ContainsRune("\"\\/,:{}[]\x7f", r)
	}
	return r != utf8.RuneError && r != dotAbove && unicode.SimpleFold(r) == r
}

// numeric reports whether run can be part of a float as Python writes it,
// which a line may hold in another form.
func numeric(run string) bool {
	return strings.Trim(run, "0123456789.e+-") == "" || strings.Contains("-infinity", run)
}

// rarity ranks bytes by how seldom they are in English prose, code and JSON.
func rarity(c byte) int {
	const common = "etaonrisl\"dcumpf-g_hbyvw.0123456789kxjqz"
	if i := strings.IndexByte(common, c); i >= 0 {
		return i
	}
	return len(common) / 2
}

// spelledBy reports whether the escape whose code begins with the four digits may mean a
// character of run, or a short escape that ends in one, as \u000a means \n.
func (f *filter) spelledBy(code []byte) bool {
	switch {
	case len(code) < 4 || !f.ascii:
		return true
	case code[0] == '0' && code[1] == '0':
		return code[2] < '8' && code[2] != '1'
	}
	return f.k && bytes.EqualFold(code[:4], []byte("212a")) || f.i && string(code[:4]) == "0130"
}

// hunt returns a hunt for the lines of text that may hold the keyword.
func (f *filter) hunt(text []byte) *hunt {
	h := &hunt{filter: f, text: text}
	for i := range h.at {
		h.at[i] = -1
	}
	return h
}

// hunt looks for every place in text because of which its line may hold the keyword.
type hunt struct {
	*filter
	text []byte
	at   [4]int // of each kind the first place not before the last from
}

// next returns the first such place at from or later, the length of the text if there is
// none.
func (h *hunt) next(from int) int {
	if from >= len(h.text) || len(h.run) == 0 {
		return from
	}
	first := len(h.text)
	for kind, at := range h.at {
		if at < from {
			at = h.find(kind, from)
			h.at[kind] = at
		}
		first = min(first, at)
	}
	return first
}

// find looks for one kind: run, a character of it as an escape, and the two
// letters beyond ASCII.
func (h *hunt) find(kind, from int) int {
	switch {
	case kind == 0:
		return h.findRun(from)
	case kind == 1:
		return h.findEscape(from)
	case kind == 2 && h.k:
		return kelvinPair.Index(h.text, from)
	case kind == 3 && h.i:
		return dottedPair.Index(h.text, from)
	}
	return len(h.text)
}

var (
	escapePair = NewPair([]byte(`\u`), 0, 1)
	kelvinPair = NewPair([]byte(string(kelvinSign)), 0, 2) // and a few other characters
	dottedPair = NewPair([]byte(string(dottedI)), 0, 1)
)

// findRun looks for run, ASCII letters in either case.
func (h *hunt) findRun(from int) int {
	for i := from + h.skip; ; i++ {
		i = h.rare.Index(h.text, i)
		start := i - h.skip
		if start+len(h.run) > len(h.text) {
			return len(h.text)
		}
		if equalLower(h.text[start:][:len(h.run)], h.run) {
			return start
		}
	}
}

func (h *hunt) findEscape(from int) int {
	const escape = len(`\u`)
	for {
		at := escapePair.Index(h.text, from)
		if at == len(h.text) || h.spelledBy(h.text[at+escape:]) {
			return at
		}
		from = at + escape
	}
}

// equalLower reports whether text with ASCII letters in lower case is lower.
func equalLower(text, lower []byte) bool {
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// appendLower appends text in lower case as Python's str.lower does: the full lower case
// of Unicode, in which İ becomes two characters and Σ has another form at the end of a
// word. Bytes that are not UTF-8 stay.
func appendLower(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, c)
		case r == dottedI:
			dst = append(dst, "i\u0307"...)
		case r == capitalSigma && endsWord(text[:i], text[i+n:]):
			dst = append(dst, "ς"...)
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		i += n
	}
	return dst
}

const (
	dottedI      = 'İ'
	kelvinSign   = '\u212a' // its lower case is k
	dotAbove     = '\u0307'
	capitalSigma = 'Σ'
)

// endsWord is Unicode's condition Final_Sigma: there is a cased letter before, and none
// behind. Characters that case ignores do not count.
func endsWord(before, behind []byte) bool {
	for {
		r, n := utf8.DecodeLastRune(before)
		if n == 0 || !ignorable(r) && !cased(r) {
			return false
		}
		if !ignorable(r) {
			break
		}
		before = before[:len(before)-n]
	}
	for {
		r, n := utf8.DecodeRune(behind)
		if n == 0 || !ignorable(r) {
			return n == 0 || !cased(r)
		}
		behind = behind[n:]
	}
}

// cased is Unicode's property Cased.
func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// ignorable is Unicode's property Case_Ignorable.
func ignorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '·', '\u0387', '\u055f', '\u05f4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\ufe13', '\ufe52', '\ufe55', '\uff07', '\uff0e', '\uff1a':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
