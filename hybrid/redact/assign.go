package redact

import (
	"bytes"
	"regexp"
	"strings"
)

// assignments finds in a text the values of names that mark their value as secret.
type assignments struct {
	text []byte
	done int // names before it were examined
}

// longestName is the greatest length of a name.
const longestName = 64

// secretAt returns the secret of the name that has a keyword at a place, and its kind.
// from and to are equal when there is none.
func (a *assignments) secretAt(at int) (from, to int, kind string) {
	if at < a.done || isPathOrPattern(a.text[at:]) {
		return 0, 0, ""
	}
	n, ok := a.nameAt(at)
	a.done = max(n.to, at+1)
	if !ok {
		return 0, 0, ""
	}
	for _, form := range forms {
		if start, found := form.value(a.text, n); found {
			return a.judged(start, n, form)
		}
	}
	return 0, 0, ""
}

// isPathOrPattern reports whether a text begins with a word such as path, in which
// "pat" is no keyword. They are frequent.
func isPathOrPattern(text []byte) bool {
	return len(text) > 3 && letter(text[3]) && bytes.EqualFold(text[:3], []byte("pat"))
}

// longWord is the length from which a value without spaces is data, in which names mean
// nothing.
const longWord = 128

// judged reads the value that begins at a place and decides whether it is a
// secret of the name.
func (a *assignments) judged(start int, n name, form form) (from, to int, kind string) {
	class, ok := classOf(a.text[n.from:n.to])
	if !ok {
		return 0, 0, ""
	}
	from, v := valueAt(a.text, start, n, form)
	if !v.quoted && len(v.text) > longWord {
		a.done = max(a.done, from+len(v.text))
	}
	if v.quoted {
		n := schemeAt(v.text)
		from, v.text = from+n, v.text[n:]
	}
	if done := placeholder.FindIndex(a.text[from:min(len(a.text), from+longestName)]); class <= secret && done != nil && done[0] == 0 {
		kind := a.text[from+len("[redacted:") : from+done[1]-1] // earlier rules left the end of a password behind it
		return from, max(from+done[1], wordEnd(a.text, from, n, v.strict)), string(kind)
	}
	accepted := class.accepts(v)
	if whole := v; !v.quoted && class <= secret && len(v.text) > 0 {
		end := wordEnd(a.text, from, n, v.strict)
		if accepted {
			end = max(end, from+len(v.text))
		}
		whole.text, whole.next = a.text[from:end], 0
		if accepted || !(v.strict && bytes.ContainsAny(whole.text, "()[]{}<>|,;=")) && class.accepts(whole) {
			v, accepted = whole, true
		}
	}
	if !accepted {
		return 0, 0, ""
	}
	return from, from + len(v.text), class.String()
}

// wordEnd returns the end of the word that begins a password: at a space, a quote, an
// escape or a tag, and before a sign behind which another name is given its value. A
// bracket that closes one before the name, and a separator between values, do not belong
// to it.
func wordEnd(text []byte, from int, n name, strict bool) int {
	end := from
	for ; end < len(text) && end-from < longestValue; end++ {
		c, rest := text[end], text[end+1:]
		if strings.IndexByte(" \t\r\n\"'`", c) >= 0 || c == '\\' && endsValue(text[end:]) || (c == '&' || c == '#') && isQuery(text, n) {
			break
		}
		if c == '<' && len(rest) > 0 && (rest[0] == '/' || letter(rest[0])) {
			break
		}
		if strings.IndexByte(",;&|", c) >= 0 {
			other := otherName.Find(rest)
			if other != nil && (c == ';' || bytes.IndexByte(other, ' ') < 0) && (c == ';' || c == ',' || other[len(other)-1] == '=') {
				break
			}
		}
	}
	for ; end > from; end-- {
		c, spaced := text[end-1], end < len(text) && text[end] == ' '
		if separates := strings.IndexByte(",;|", c) >= 0 && (strict || spaced); !separates && !closesBefore(text, n.from, c) {
			break
		}
	}
	return end
}

// otherName is a name that is given a value.
var otherName = regexp.MustCompile(`\A *[A-Za-z_][A-Za-z0-9_.-]{1,40}(?: [A-Za-z]{1,20})? *[=:]`)

// closesBefore reports whether a bracket closes an open one before a place, in the same
// line and not before a quote.
func closesBefore(text []byte, at int, c byte) bool {
	pair := strings.IndexByte("()[]{}<>", c)
	if pair < 0 || pair%2 == 0 {
		return false
	}
	open := 0
	for i := at - 1; i >= max(0, at-longestValue/8) && open <= 0 && text[i] != '\n' && !isQuote(text[i]); i-- {
		switch text[i] {
		case c:
			open--
		case "()[]{}<>"[pair-1]:
			open++
		}
	}
	return open > 0
}

// name is the name of a value in a text.
type name struct {
	from, to int
	end      int  // where it ends with its quote
	quote    byte // around it; 0 for none
	flag     bool // it is an option of a program, as --password
	env      bool // it has no small letters
}

func inName(c byte) bool {
	return letter(c) || digit(c) || c == '_' || c == '-' || c == '.'
}

// nameAt returns the name around a place, and false when there is none.
func (a *assignments) nameAt(at int) (n name, ok bool) {
	text := a.text
	n.from, n.to = at, at
	for n.from > max(a.done, at-longestName) && inName(text[n.from-1]) {
		n.from--
	}
	for n.to < len(text) && n.to < at+longestName && inName(text[n.to]) {
		n.to++
	}
	n.end = n.to
	if n.to == at+longestName {
		return n, false
	}
	if n.from > 0 && n.from < at && text[n.from-1] == '\\' && strings.IndexByte("nrtbf", text[n.from]) >= 0 {
		n.from++ // the letter of an escape, maybe of one in an escape
	}
	for n.from < at && (text[n.from] == '-' || text[n.from] == '.') {
		n.flag = text[n.from] == '-'
		n.from++
	}
	n.env = true
	for _, c := range text[n.from:n.to] {
		n.env = n.env && !lower(c)
	}
	if n.from == 0 || n.to >= len(text) {
		return n, n.to < len(text)
	}
	before := n.from - 1
	for n.flag && before > 0 && text[before] == '-' {
		before--
	}
	if c := text[before]; c == text[n.to] && isQuote(c) {
		n.quote, n.end = c, n.to+1
	}
	return n, true
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// schemes come before the secret in the values of headers.
var schemes = []string{"bearer ", "basic ", "token ", "apikey ", "api-key ", "key ", "digest ", "sharedkey "}

// schemeAt returns the length of the scheme that a text begins with.
func schemeAt(text []byte) int {
	for _, s := range schemes {
		if len(text) > len(s) && bytes.EqualFold(text[:len(s)], []byte(s)) {
			return len(s)
		}
	}
	return 0
}

// valueAt reads the value that begins at a place.
func valueAt(text []byte, at int, n name, f form) (int, value) {
	if at < len(text) && strings.IndexByte("brfuBRFU@", text[at]) >= 0 && at+1 < len(text) && isQuote(text[at+1]) {
		at++ // a literal with a prefix
	}
	if at >= len(text) {
		return at, value{}
	}
	if q := text[at]; isQuote(q) {
		return quotedAt(text, at+1, q)
	}
	if f.quoted {
		return at, value{}
	}
	return unquotedAt(text, at, n, f)
}

// quotedAt reads a value up to its quote. Where that is missing the text was
// cut, and a value ends at a space.
func quotedAt(text []byte, at int, q byte) (int, value) {
	if at >= len(text) || strings.IndexByte(",:}] \n", text[at]) >= 0 {
		return at, value{} // the quote ends a string, and begins none
	}
	end, space := at, 0
	for ; end < len(text) && end-at <= longestValue && text[end] != '\n'; end++ {
		switch c := text[end]; {
		case c == q:
			return at, value{text: text[at:end], quoted: true}
		case c == '\\' && end+1 < len(text):
			end++
		case c == ' ' && space == 0:
			space = end
		}
	}
	if end > len(text) || end-at > longestValue {
		return at, value{}
	}
	if space > 0 {
		end = space
	}
	return at, value{text: bytes.TrimRight(text[at:end], `"'\`), quoted: true}
}

// unquotedAt reads a value up to a space or to a sign that ends a value in source text.
func unquotedAt(text []byte, at int, n name, f form) (int, value) {
	env := n.env && f.tight || n.flag || f.word
	ends := ` ,)(<>|[]{}` + "\t\r\n\"'`"
	if env {
		ends = " <>|\t\r\n\"'`"
	}
	at += schemeAt(text[at:])
	end := at
	for ; end < len(text) && end-at <= longestValue; end++ {
		c := text[end]
		if strings.IndexByte(ends, c) >= 0 || c == '\\' && endsValue(text[end:]) {
			break
		}
		if c == ';' || c == '&' && (!env || end+1 == len(text) || text[end+1] == '&' || isQuery(text, n)) {
			break
		}
	}
	v := value{text: text[at:end], strict: !env}
	if end < len(text) {
		v.next = text[end]
	}
	if v.next == '\\' && end+1 < len(text) && isQuote(text[end+1]) {
		v.next = 0
	}
	if !env || v.next != 0 {
		v.text = bytes.TrimRight(v.text, ".,:!?)}]")
	}
	return at, v
}

// endsValue reports whether a text that begins with a backslash begins with
// an escape, or with the end of a line.
func endsValue(text []byte) bool {
	_, n := escapeAt(text)
	return n > 0 || len(text) == 1 || text[1] == '\n' || text[1] == '\''
}

// isQuery reports whether a name is a parameter in an address.
func isQuery(text []byte, n name) bool {
	return n.from > 0 && (text[n.from-1] == '?' || text[n.from-1] == '&')
}
