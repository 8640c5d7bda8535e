package cosmossql

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind int

const (
	end kind = iota
	word
	number
	text
	param
	sign
)

// A token is a piece of a query; text is what it means, not how it was written.
type token struct {
	kind   kind
	text   string
	offset int
}

// is reports whether t is the keyword or sign s.
func (t token) is(s string) bool {
	return t.kind == sign && t.text == s || t.kind == word && strings.EqualFold(t.text, s)
}

var signs = []string{"||", "!=", "<>", "<=", ">=", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", ",", ".", ":"}

// lex cuts a query into tokens, the last of which is of kind end.
func lex(query string) (out []token, err error) {
	for at := 0; ; {
		rest := strings.TrimLeftFunc(query[at:], unicode.IsSpace)
		at = len(query) - len(rest)
		if rest == "" {
			return append(out, token{kind: end, offset: at}), nil
		}
		t, size, err := next(rest)
		if err != nil {
			return nil, fmt.Errorf("syntax error at offset %d: %w", at, err)
		}
		t.offset = at
		out = append(out, t)
		at += size
	}
}

// next returns the token that s begins with, and its size.
func next(s string) (token, int, error) {
	r, _ := utf8.DecodeRuneInString(s)
	switch {
	case r == '\'' || r == '"':
		return quoted(s)
	case r >= '0' && r <= '9':
		size := numberSize(s)
		if _, err := strconv.ParseFloat(s[:size], 64); err != nil {
			return token{}, 0, fmt.Errorf("number %q", s[:size])
		}
		return token{kind: number, text: s[:size]}, size, nil
	case r == '@' || r == '_' || unicode.IsLetter(r):
		size := 1 + nameSize(s[1:])
		if r >= utf8.RuneSelf {
			size = nameSize(s)
		}
		if r != '@' {
			return token{kind: word, text: s[:size]}, size, nil
		}
		if size > 1 {
			return token{kind: param, text: s[:size]}, size, nil
		}
	}
	for _, one := range signs {
		if strings.HasPrefix(s, one) {
			return token{kind: sign, text: one}, len(one), nil
		}
	}
	return token{}, 0, fmt.Errorf("unexpected %q", r)
}

func nameSize(s string) int {
	i := strings.IndexFunc(s, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if i < 0 {
		return len(s)
	}
	return i
}

func numberSize(s string) int {
	size := 0
	for size < len(s) {
		c := s[size]
		exponent := size > 0 && (s[size-1] == 'e' || s[size-1] == 'E')
		if (c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && (!exponent || c != '-' && c != '+') {
			break
		}
		size++
	}
	return size
}

// quoted reads a string in single or double quotes with escapes by backslash.
func quoted(s string) (token, int, error) {
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case s[0]:
			return token{kind: text, text: out.String()}, i + 1, nil
		case '\\':
			n, size := escape(s[i+1:])
			if size == 0 {
				return token{}, 0, fmt.Errorf("unknown escape in a string")
			}
			out.WriteString(n)
			i += size
		default:
			out.WriteByte(c)
		}
	}
	return token{}, 0, fmt.Errorf("string without end")
}

// escape returns what the text after a backslash means and its size, 0 for
// what means nothing.
func escape(s string) (string, int) {
	if s == "" {
		return "", 0
	}
	if i := strings.IndexByte(`'"\/bfnrt`, s[0]); i >= 0 {
		return "'\"\\/\b\f\n\r\t"[i : i+1], 1
	}
	if s[0] == 'u' && len(s) >= 5 {
		if n, err := strconv.ParseUint(s[1:5], 16, 16); err == nil {
			return string(rune(n)), 5
		}
	}
	return "", 0
}
