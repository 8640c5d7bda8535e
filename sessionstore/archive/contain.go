package archive

import (
	"strings"
	"unicode/utf8"
)

// contain returns Markdown that ends where it ends: a fence that is open is
// closed, and outside of code no character begins HTML, which could go on
// behind it. It ends in a line break.
func contain(text string) string {
	var b strings.Builder
	open := "" // the fence that is open
	var paragraph []string
	flush := func() {
		b.WriteString(escapeHTML(strings.Join(paragraph, "\n")))
		if len(paragraph) > 0 {
			b.WriteByte('\n')
		}
		paragraph = paragraph[:0]
	}
	for line := range strings.SplitSeq(strings.TrimRight(clean(text), "\n"), "\n") {
		mark, rest := fenceMark(line)
		switch {
		case open != "":
			b.WriteString(line + "\n")
			if strings.HasPrefix(mark, open) && strings.TrimSpace(rest) == "" {
				open = ""
			}
		case mark != "" && (mark[0] != '`' || !strings.Contains(rest, "`")):
			flush()
			b.WriteString(line + "\n")
			open = mark
		default:
			paragraph = append(paragraph, line)
			if strings.TrimSpace(line) == "" { // what is open in a line ends with its paragraph
				flush()
			}
		}
	}
	flush()
	if open != "" {
		b.WriteString(open + "\n")
	}
	return b.String()
}

// fenceMark returns the fence that a line begins with, and what follows it.
// Fences in lists and quotations, which end with these, are none; neither are
// those of four spaces and more.
func fenceMark(line string) (mark, rest string) {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || text == "" || text[0] != '`' && text[0] != '~' {
		return "", ""
	}
	rest = strings.TrimLeft(text, text[:1])
	mark = text[:len(text)-len(rest)]
	if len(mark) < 3 {
		return "", ""
	}
	return mark, rest
}

// escapeHTML makes the character that begins HTML text, but for code within
// the paragraph.
func escapeHTML(paragraph string) string {
	var b strings.Builder
	for i := 0; i < len(paragraph); {
		switch c := paragraph[i]; c {
		case '`':
			run := len(paragraph[i:]) - len(strings.TrimLeft(paragraph[i:], "`"))
			n := codeSpan(paragraph[i:], run)
			b.WriteString(paragraph[i : i+n])
			i += n
		case '\\':
			n := min(2, len(paragraph)-i)
			if n == 2 && paragraph[i+1] == '<' { // the next round looks at it
				n = 1
			}
			b.WriteString(paragraph[i : i+n])
			i += n
		case '<':
			if tag(paragraph[i+1:]) {
				b.WriteString("&lt;")
			} else {
				b.WriteByte('<')
			}
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// tag reports whether what follows the character that begins HTML makes it so.
func tag(rest string) bool {
	if rest == "" {
		return false
	}
	c := rest[0]
	return c == '/' || c == '!' || c == '?' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// codeSpan returns the length of the code at the beginning of text, which
// begins with so many backticks; when they begin none, that is their number.
func codeSpan(text string, run int) int {
	for i := run; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		n := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if i += n; n == run {
			return i
		}
	}
	return run
}

// clean returns text with valid UTF-8, lines that end in LF, and without the
// control characters that a terminal or a page would obey or drop, and those
// that turn the direction of what follows.
func clean(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || r == 0x0b || r == 0x0c || r == 0x85 || r == 0x2028 || r == 0x2029:
			return '\n'
		case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return utf8.RuneError
		}
		return r
	}, text)
}
