package redact

import "bytes"

// value is the value of a name, and its surroundings.
type value struct {
	text   []byte
	quoted bool
	strict bool // it may just as well be source text: an argument, an expression
	next   byte // the byte behind an unquoted value; 0 for the end of the text
}

// longestValue is the greatest length of a value. Longer ones are data.
const longestValue = 1024

// accepts reports whether a value may be a secret of a name of the class.
func (c class) accepts(v value) bool {
	shortest := [...]int{password: 6, secret: 8, token: 12, key: 16, auth: 12, pat: 12, dsn: 8}[c]
	if len(v.text) < shortest || len(v.text) > longestValue || !c.looksLike(v) {
		return false
	}
	return !isPlaceholder(v.text) && !isReference(v)
}

// looksLike reports whether a value looks like a secret of the class.
func (c class) looksLike(v value) bool {
	s := statisticsOf(v.text)
	switch c {
	case password:
		return s.random() || s.digits > 0 && s.letters > 0 && !isWord(v) || s.jumbled(v, 8) ||
			!v.strict && (s.digits == s.length || s.symbols > 0 && s.letters > 3 && s.odd())
	case secret:
		return s.random() || s.mixes >= 2 && !isWord(v) || s.jumbled(v, 12) || s.digits > 0 && s.symbols > 0 && s.letters > 0 && !v.strict
	case key:
		return s.digits > 0 && s.random() && !isUUID(v.text) && !endsInHash(v.text)
	}
	if user, _, found := bytes.Cut(v.text, []byte("@")); c == dsn && found {
		_, pass, _ := bytes.Cut(user, []byte(":"))
		return len(pass) >= 4
	}
	return (s.digits > 0 && s.random() || s.jumbled(v, 20)) && (c != pat || !bytes.ContainsAny(v.text, `[](){}*?^$|\`))
}

// jumbled reports whether a value is at least so long, has letters and digits alone, and
// is not made of words.
func (s statistics) jumbled(v value, shortest int) bool {
	return s.length >= shortest && s.letters+s.digits == s.length && isJumbled(v.text) && !isWord(v)
}

// statistics distinguish random text from words.
type statistics struct {
	length, letters, digits, symbols, vowels, uppers int
	mixes                                            int // a letter beside a digit
	turns                                            int // a capital beside a small letter, or a letter beside a digit
	consonants                                       int // the longest run without a vowel
}

func statisticsOf(text []byte) (s statistics) {
	run, before := 0, byte(0)
	s.length = len(text)
	for _, c := range text {
		switch {
		case digit(c):
			s.digits++
		case letter(c):
			s.letters++
		case bytes.IndexByte([]byte("_-. "), c) < 0:
			s.symbols++
		}
		if upper(c) {
			s.uppers++
		}
		if letter(c) && bytes.IndexByte([]byte("aeiouy"), c|0x20) < 0 {
			run++
			s.consonants = max(s.consonants, run)
		} else {
			run = 0
		}
		if letter(c) && run == 0 {
			s.vowels++
		}
		if letter(c) && digit(before) || digit(c) && letter(before) {
			s.mixes++
			s.turns++
		}
		if upper(c) && lower(before) || lower(c) && upper(before) {
			s.turns++
		}
		before = c
	}
	return s
}

// random reports whether a text looks generated, not made up by a person.
func (s statistics) random() bool {
	if s.letters == 0 {
		return false
	}
	return s.digits > 0 && (s.mixes >= 3 || s.mixes >= 2 && (s.symbols > 0 || s.turns*10 >= s.length*3)) || s.letters >= 8 && s.turns*20 >= s.length*9 ||
		s.letters >= 8 && s.letters*10 >= s.length*7 && s.vowels*5 < s.letters && s.consonants >= 5 && s.odd()
}

// odd reports whether there are capitals where words have none, or no vowels where words
// have some.
func (s statistics) odd() bool { return s.uppers > 0 && s.uppers < s.letters || s.consonants >= 5 }
