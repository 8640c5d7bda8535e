package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// rule is a [shapeRule] made ready.
type rule struct {
	shapeRule
	begins *regexp.Regexp // the shape at the beginning of a text
	word   bool           // it begins at the boundary of a word
	fold   bool           // it ignores case
}

func compiled(r shapeRule) rule {
	if r.scan != nil {
		return rule{shapeRule: r, word: r.shape != "" && strings.HasPrefix(r.shape, `\b`)}
	}
	shape, fold := strings.CutPrefix(r.shape, "(?i)")
	shape, word := strings.CutPrefix(shape, `\b`)
	flags := ""
	if fold {
		flags = "(?i)"
	}
	return rule{shapeRule: r, begins: regexp.MustCompile(flags + `\A(?:` + shape + `)`), word: word, fold: fold}
}

// match is the result of a rule for a text that begins where its shape may begin: the
// place of the secret, and where to continue. A secret without length is none.
type match struct{ from, to, end int }

// at tries the rule at a place of a text and returns the match, as places
// of the text. Without a match the end is 0.
func (r *rule) at(text []byte, from int) match {
	if r.scan != nil {
		m := r.scan(text[from:])
		return match{from + m.from, from + m.to, from + m.end}
	}
	m := r.begins.FindSubmatchIndex(text[from:])
	if m == nil {
		return match{end: from}
	}
	found := match{end: from + m[1]}
	if len(m) > 2 && m[2] >= 0 {
		m = m[2:]
	}
	if text := text[from+m[0] : from+m[1]]; r.keep || r.needs.met(text) && !isExample(text) {
		found.from, found.to = from+m[0], from+m[1]
	}
	return found
}

// from returns the place where a shape begins whose start was found at at, or -1. Nothing
// before done belongs to it.
func (b backward) from(text []byte, at, done int) int {
	switch b {
	case scheme:
		from := -1
		for i := at - 1; i >= max(done, at-21) && (lower(text[i]) || digit(text[i]) || strings.IndexByte("+.-", text[i]) >= 0); i-- {
			if i <= at-2 && lower(text[i]) && !within(text, i) {
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
	case semicolon:
		from := at
		for from > max(done, at-8) && strings.IndexByte(" \t\n\r\f", text[from-1]) >= 0 {
			from--
		}
		if from == done || text[from-1] != ';' {
			return -1
		}
		return from - 1
	case three:
		return at - 3
	case fourteen:
		return at - 14
	}
	return at
}

func lower(c byte) bool { return c >= 'a' && c <= 'z' }

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

func letter(c byte) bool { return lower(c | 0x20) }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// within reports whether the byte at, of a word itself, continues a word.
func within(text []byte, at int) bool {
	if at == 0 {
		return false
	}
	c := text[at-1]
	return letter(c) || digit(c) || c == '_'
}

func (n need) met(text []byte) bool {
	has := func(is func(byte) bool) bool { return slices.ContainsFunc(text, is) }
	switch n {
	case aDigit:
		return has(digit)
	case bothCases:
		return has(digit) && has(lower) && has(upper)
	case aPassword:
		return len(text) >= 4 && !isPlaceholder(text)
	case aToken:
		return token.accepts(value{text: text, quoted: true}) || isJumbled(text) && !isPlaceholder(text)
	case aCookie:
		return slices.ContainsFunc(bytes.FieldsFunc(text, func(r rune) bool { return r == '=' || r == ';' }), func(part []byte) bool {
			return len(part) >= 16 && token.accepts(value{text: part, quoted: true})
		})
	case aSecret:
		return password.accepts(value{text: text, quoted: true})
	}
	return true
}
