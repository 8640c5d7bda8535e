package pyjson

import (
	"fmt"
	"strings"
	"unicode"
)

// Repr returns the text as Python's repr shows a string. Surrogates may be written as
// three bytes, as [AppendText] makes them; other bytes that are not UTF-8 are shown as
// one character each.
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

// writeShown writes a character, or an escape for an invisible character.
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

// AppendRepr appends the value raw as Python's repr shows it. It stops soon after limit bytes.
func AppendRepr(dst, raw []byte, limit int) []byte {
	switch KindOf(raw) {
	case Object:
		return appendObject(dst, raw, limit)
	case Array:
		dst = append(dst, '[')
		first := len(dst)
		for e := range Elements(raw) {
			if dst = AppendRepr(comma(dst, first), e, limit); len(dst) > limit {
				break
			}
		}
		return append(dst, ']')
	case String:
		return append(dst, Repr(string(AppendText(nil, raw)))...)
	case True:
		return append(dst, "True"...)
	case False:
		return append(dst, "False"...)
	case Null:
		return append(dst, "None"...)
	}
	return append(dst, strings.NewReplacer("Infinity", "inf", "NaN", "nan").Replace(string(Canonical(raw)))...)
}

// appendObject appends the repr of an object. If several members have one name,
// it shows the last value in the place of the first, as Python does.
func appendObject(dst, raw []byte, limit int) []byte {
	var keys []string
	values := map[string][]byte{}
	for m := range Members(raw) {
		key := string(AppendText(nil, m.Key))
		if _, ok := values[key]; !ok {
			keys = append(keys, key)
		}
		values[key] = m.Value
	}
	dst = append(dst, '{')
	first := len(dst)
	for _, key := range keys {
		dst = append(append(comma(dst, first), Repr(key)...), ": "...)
		if dst = AppendRepr(dst, values[key], limit); len(dst) > limit {
			break
		}
	}
	return append(dst, '}')
}

// comma appends a comma if anything was appended since offset first.
func comma(dst []byte, first int) []byte {
	if len(dst) == first {
		return dst
	}
	return append(dst, ", "...)
}
