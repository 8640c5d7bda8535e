package redact

import (
	"bytes"
	"strings"
)

// form is a way in which texts give a value to a name.
type form struct {
	value  func(text []byte, n name) (at int, ok bool) // where the value begins
	quoted bool                                        // only a quoted value counts
	tight  bool                                        // the value comes right behind its sign
	word   bool                                        // the value is a word of a command line or of a file
}

// forms are tried in this order. The first that fits decides.
var forms = []form{
	{value: equals, tight: true},
	{value: assigned},
	{value: annotated, quoted: true},
	{value: quotedName, quoted: true},
	{value: pair, tight: true},
	{value: element, tight: true},
	{value: option, word: true},
	{value: inNetrc, word: true},
	{value: variable, word: true},
	{value: inSQL, quoted: true},
}

func blank(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at
}

// equals is NAME=value.
func equals(text []byte, n name) (int, bool) {
	at := n.end
	return at + 1, n.quote == 0 && at+1 < len(text) && text[at] == '=' && strings.IndexByte("=> \t~", text[at+1]) < 0
}

// assignment signs besides the equals sign alone. A longer one goes first.
var signs = []string{":=", "?=", "||=", "=>", ":-", "===", "==", "!=", "=", ":"}

// signAt returns the place behind an assignment sign, and false when there is none.
func signAt(text []byte, at int) (int, bool) {
	at = blank(text, at)
	for _, sign := range signs {
		if bytes.HasPrefix(text[at:], []byte(sign)) {
			return blank(text, at+len(sign)), true
		}
	}
	return at, false
}

// assigned is name = value, name: value and the like.
func assigned(text []byte, n name) (int, bool) {
	if n.quote != 0 {
		return 0, false
	}
	bold := []byte("**") // of Markdown, before the sign or behind it
	end := n.end
	if bytes.HasPrefix(text[end:], bold) {
		end += len(bold)
	}
	at, ok := signAt(text, end)
	if !ok {
		return 0, false
	}
	if bytes.HasPrefix(text[at:], bold) {
		at = blank(text, at+len(bold))
	}
	if n.from > 0 && text[n.from-1] == ':' && text[n.end] == ':' { // a:secret:b is the name of something
		return 0, false
	}
	_, typed := annotated(text, n)
	return at, !typed
}

// annotated is name: type = "value".
func annotated(text []byte, n name) (int, bool) {
	at := n.end
	if n.quote != 0 || at >= len(text) || text[at] != ':' && text[at] != '?' && text[at] != ' ' {
		return 0, false
	}
	const longestType = 40
	stop := min(len(text), at+longestType)
	equal := bytes.IndexByte(text[at:stop], '=')
	if equal < 2 {
		return 0, false
	}
	for _, c := range text[at : at+equal] {
		if !letter(c) && !digit(c) && strings.IndexByte(" :?|[]._", c) < 0 {
			return 0, false
		}
	}
	if len(bytes.Trim(text[at:at+equal], " :?|")) == 0 {
		return 0, false
	}
	begin := blank(text, at+equal+1)
	return begin, begin+1 < len(text) && isQuote(text[begin]) && strings.IndexByte(",:}] \n", text[begin+1]) < 0
}

// quotedName is "name": "value", x["name"] = "value", ("name", "value").
func quotedName(text []byte, n name) (int, bool) {
	if n.quote == 0 {
		return 0, false
	}
	at := n.end
	if at < len(text) && text[at] == ']' {
		at++
	}
	if begin, ok := signAt(text, at); ok {
		return begin, true
	}
	at = blank(text, at)
	if at >= len(text) || text[at] != ',' || n.quote == '`' {
		return 0, false
	}
	begin := at + 1
	for begin < len(text) && begin < at+longestName && strings.IndexByte(" \t\r\n", text[begin]) >= 0 {
		begin++
	}
	end := begin + 1
	for end < len(text) && end < begin+longestName && inName(text[end]) {
		end++
	}
	if next := blank(text, end+1); end+1 < len(text) && isQuote(text[end]) && next < len(text) && text[next] == ':' {
		return 0, false // the next member of an object
	}
	return begin, begin < len(text)
}

// pair is {"name": "NAME", "value": "…"}, and the same in YAML.
func pair(text []byte, n name) (int, bool) {
	at, stop := n.end, min(len(text), n.end+longestName)
	for at < stop && strings.IndexByte(" \t\r\n,\"'", text[at]) >= 0 {
		at++
	}
	word := []byte("value")
	if at == n.end || !bytes.HasPrefix(text[at:], word) {
		return 0, false
	}
	at += len(word)
	if at < len(text) && isQuote(text[at]) {
		at++
	}
	return signAt(text, at)
}

// element is <name>value</name>.
func element(text []byte, n name) (int, bool) {
	at := n.end
	if n.from == 0 || text[n.from-1] != '<' || at >= len(text) || text[at] != '>' {
		return 0, false
	}
	return at + 1, true
}

// option is --name value.
func option(text []byte, n name) (int, bool) {
	at := n.end
	if !n.flag || n.quote != 0 || at >= len(text) || text[at] != ' ' {
		return 0, false
	}
	begin := blank(text, at)
	return begin, begin < len(text) && text[begin] != '-'
}

// inNetrc is machine h login u password value.
func inNetrc(text []byte, n name) (int, bool) {
	if string(text[n.from:n.to]) != "password" || n.end >= len(text) || text[n.end] != ' ' {
		return 0, false
	}
	before := bytes.Fields(text[max(0, n.from-2*longestName):n.from])
	if len(before) < 2 || string(before[len(before)-2]) != "login" {
		return 0, false
	}
	return blank(text, n.end), true
}

// variable is set -x NAME value, setx NAME value and ENV NAME value.
func variable(text []byte, n name) (int, bool) {
	if !n.env || n.end >= len(text) || text[n.end] != ' ' {
		return 0, false
	}
	before := text[max(0, n.from-5):n.from]
	for _, command := range []string{"setx ", "-x ", "-gx ", "-Ux ", "ENV "} {
		if bytes.HasSuffix(before, []byte(command)) {
			return blank(text, n.end), true
		}
	}
	return 0, false
}

// inSQL is PASSWORD 'value'.
func inSQL(text []byte, n name) (int, bool) {
	begin := blank(text, n.end)
	if begin == n.end || begin >= len(text) || text[begin] != '\'' || !bytes.EqualFold(text[n.from:n.to], []byte("password")) {
		return 0, false
	}
	return begin, true
}
