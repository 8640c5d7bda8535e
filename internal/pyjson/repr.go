package pyjson

import (
	"fmt"
	"strings"
	"unicode"
)

// Repr returns the text as Python's repr shows a string. Surrogates may stand as three bytes, as [AppendText] makes
// them; other bytes that are not UTF-8 are shown as one character each.
func Repr(text string) string {
	quote := '\''
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for rest := []byte(text); len(rest) > 0; {
		r, n := decodeWide(rest)
		if n == 0 {
			r, n = rune(rest[0]), 1
		}
		rest = rest[n:]
		if r == quote || r == '\\' {
			b.WriteByte('\\')
		}
		writeShown(&b, r)
	}
	b.WriteRune(quote)
	return b.String()
}

// writeShown writes a character, or an escape for one that cannot be seen.
func writeShown(b *strings.Builder, r rune) {
	switch {
	case unicode.IsPrint(r):
		b.WriteRune(r)
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r < 0x100:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}
