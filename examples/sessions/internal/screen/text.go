package screen

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Plain returns text as one line that no terminal obeys: line breaks and tabs
// become spaces, all else that a terminal would act on or hide becomes U+FFFD.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			return ' '
		case obeyed(r):
			return utf8.RuneError
		}
		return r
	}, text)
}

// Lines is [Plain] for text of several lines: line breaks stay, and tabs are
// four spaces.
func Lines(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\t", "    ").Replace(text)
	return strings.Map(func(r rune) rune {
		if r != '\n' && obeyed(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// obeyed reports whether a terminal would act on r, or show the text around it
// in another order.
func obeyed(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\ufeff' || r == '\u2028' || r == '\u2029' ||
		r >= 0xE0000 && r <= 0xE0FFF
}

// Columns returns how many columns a terminal shows a plain text in.
func Columns(text string) int { return uniseg.StringWidth(text) }

// Fit cuts a plain text to at most so many columns; a cut one ends in "…".
func Fit(text string, columns int) string {
	if Columns(text) <= columns {
		return text
	}
	return clip(text, columns-1) + "…"
}

// FitEnd is Fit that keeps the end of the text; a cut one begins with "…". It is
// empty where there is no column.
func FitEnd(text string, columns int) string {
	if columns < 1 {
		return ""
	}
	if Columns(text) <= columns {
		return text
	}
	for Columns(text) > columns-1 {
		cluster, rest, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
		if cluster == "" {
			break
		}
		text = rest
	}
	return "…" + text
}

// clip returns the beginning of text that fills at most so many columns.
func clip(text string, columns int) string {
	state, end, left := -1, 0, columns
	for rest := text; rest != ""; {
		cluster, next, width, newState := uniseg.FirstGraphemeClusterInString(rest, state)
		if width > left {
			break
		}
		left -= width
		end += len(cluster)
		rest, state = next, newState
	}
	return text[:end]
}

// Wrap breaks lines that are wider than width at spaces. The text after a break has the
// indent of its line. A word that is wider than a line stays whole, so that ids and
// paths can be copied from a terminal, unless it is text without spaces, as Japanese
// is: that is broken between any two characters. Tints take no room.
func Wrap(text string, width int) string {
	if width < 1 || len(text) <= width {
		return text
	}
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		wrapLine(&b, line, width)
	}
	return b.String()
}

var tints = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// columnsOf returns the number of columns that a text with tints fills.
func columnsOf(text string) int {
	if strings.Contains(text, "\x1b") {
		text = tints.ReplaceAllString(text, "")
	}
	return Columns(text)
}

func wrapLine(b *strings.Builder, line string, width int) {
	text := strings.TrimSuffix(line, "\n")
	if len(text) <= width || columnsOf(text) <= width {
		b.WriteString(line)
		return
	}
	rest := strings.TrimLeft(text, " ")
	indent := text[:len(text)-len(rest)]
	if len(indent) > width/2 {
		indent = ""
	}
	b.WriteString(indent)
	used := len(indent)
	for i, word := range strings.Split(rest, " ") {
		columns := columnsOf(word)
		switch {
		case i == 0:
		case used+1+columns <= width, columns > width-len(indent) && spaceless(word) && used+3 <= width:
			b.WriteString(" ")
			used++
		case word != "":
			b.WriteString("\n" + indent)
			used = len(indent)
		default: // a space at the end of a line
			continue
		}
		if used+columns > width && spaceless(word) {
			used = breakWord(b, word, indent, used, width)
			continue
		}
		b.WriteString(word)
		used += columns
	}
	if len(text) < len(line) {
		b.WriteString("\n")
	}
}

// spaceless reports whether a word has characters of two columns: it is of a
// script that puts no spaces between words.
func spaceless(word string) bool { return columnsOf(word) > uniseg.GraphemeClusterCount(word) }

// breakWord writes a word in lines that fit, and returns the columns that are used of
// the last line.
func breakWord(b *strings.Builder, word, indent string, used, width int) int {
	state := -1
	for word != "" {
		cluster, rest, columns, next := uniseg.FirstGraphemeClusterInString(word, state)
		if used+columns > width && used > len(indent) {
			b.WriteString("\n" + indent)
			used = len(indent)
		}
		b.WriteString(cluster)
		used += columns
		word, state = rest, next
	}
	return used
}
