package sessionstore

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// filter tells from the raw bytes of a line that a keyword cannot be in it.
//
// It looks for a run of the keyword that stands in the line as it stands in
// the row that is written anew, but for the case of ASCII letters. That holds
// for characters that lie within one string or literal, where the line has no
// escape \u; quotes, backslashes, slashes, spaces and punctuation between
// values may differ, and so may a number.
type filter struct {
	run  []byte // in lower case; empty: every line may hold the keyword
	rare int    // the place in run of the byte to look for first
	wide bool   // a letter of run is also the lower case of one beyond ASCII
}

// newFilter returns the filter of a keyword in lower case.
func newFilter(lower string) filter {
	var f filter
	for _, run := range strings.FieldsFunc(lower, func(r rune) bool { return !steady(r) }) {
		if len(run) > len(f.run) && !numeric(run) {
			f.run = []byte(run)
		}
	}
	for i := range f.run {
		if rarity(f.run[i]) > rarity(f.run[f.rare]) {
			f.rare = i
		}
	}
	f.wide = bytes.ContainsAny(f.run, "ki")
	return f
}

// steady reports whether r stands in a line as in the row written anew, and
// is the lower case of nothing but itself and ASCII letters.
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

// passes reports whether the line may hold the keyword.
func (f *filter) passes(line []byte) bool {
	return len(f.run) == 0 || f.occurs(line) || bytes.Contains(line, []byte(`\u`)) ||
		f.wide && (bytes.Contains(line, []byte(string(kelvinSign))) || bytes.Contains(line, []byte(string(dottedI))))
}

// occurs reports whether run is in line, ASCII letters in either case.
func (f *filter) occurs(line []byte) bool {
	c := f.run[f.rare]
	if f.startsAt(line, c) {
		return true
	}
	return 'a' <= c && c <= 'z' && f.startsAt(line, c-'a'+'A')
}

// startsAt is occurs where the rare byte has the form c.
func (f *filter) startsAt(line []byte, c byte) bool {
	end := len(line) - (len(f.run) - 1 - f.rare)
	for i := f.rare; i < end; i++ {
		next := bytes.IndexByte(line[i:end], c)
		if next < 0 {
			return false
		}
		i += next
		if equalLower(line[i-f.rare:][:len(f.run)], f.run) {
			return true
		}
	}
	return false
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
