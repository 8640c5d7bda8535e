package cli

import (
	"regexp/syntax"
	"strings"
)

// literal returns the longest text without which a regular expression cannot
// match, in any case, or "" when it needs none. It holds nothing that JSON
// escapes.
func literal(expression string) string {
	re, err := syntax.Parse(expression, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return ""
	}
	return needed(re)
}

func needed(re *syntax.Regexp) (longest string) {
	switch {
	case re.Op == syntax.OpLiteral:
		plain := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
		for _, part := range strings.FieldsFunc(string(re.Rune), plain) {
			longest = longer(longest, strings.ToLower(part))
		}
	case re.Op == syntax.OpConcat, re.Op == syntax.OpCapture, re.Op == syntax.OpPlus, re.Op == syntax.OpRepeat && re.Min > 0:
		for _, sub := range re.Sub {
			longest = longer(longest, needed(sub))
		}
	}
	return longest
}

func longer(a, b string) string {
	if len(b) > len(a) {
		return b
	}
	return a
}
