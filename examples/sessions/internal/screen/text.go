package screen

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/text/unicode/norm"
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

// Steady leaves out the characters about whose width terminals disagree: those
// that join, color or restyle the character before. The rest has the same width on all
// of them. A letter and its accent become one character, since the renderer draws no
// accent that follows an ASCII letter.
func Steady(text string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		switch {
		case r == '\u200d', r >= '\ufe00' && r <= '\ufe0f', r >= 0x1f3fb && r <= 0x1f3ff, r == '\u200b', r == '\u200c', r == '\u2060', r == '\u00ad':
			return -1
		}
		return r
	}, text))
}

// Columns returns how many columns a terminal shows a text in. Tints fill none.
func Columns(text string) int { return ansi.StringWidth(text) }

// Start returns the beginning of a text that has more bytes, as by [Fit].
func Start(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Indented returns JSON of at most so many bytes with a member a line, and other text as it is.
func Indented(text string, most int) string {
	var b bytes.Buffer
	if len(text) > most || json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// Fit cuts a text to at most so many columns; a cut one ends in "…".
func Fit(text string, columns int) string { return cut(text, columns, "…") }

// cut is ansi.Truncate, which may leave a column too many before an odd cluster.
func cut(text string, columns int, end string) string {
	for most := columns; ; most-- {
		if part := ansi.Truncate(text, most, end); Columns(part) <= max(0, columns) {
			return part
		}
	}
}

// FitEnd is Fit that keeps the end of the text; a cut one begins with "…". It is
// empty where there is no column.
func FitEnd(text string, columns int) string {
	if columns < 1 {
		return ""
	}
	part := text
	for off := Columns(text) - columns + 1; Columns(part) > columns; off++ {
		part = ansi.TruncateLeft(text, off, "…")
	}
	return part
}

// lead matches the indent of a line, with the bars of quotes and the mark of an item of
// a list.
var lead = regexp.MustCompile(`^(?: |│ )*(?:(?:•|\d{1,9}\.) )?`)

// Wrap breaks lines that are wider than width at spaces. The text after a break has the
// indent of its line, and its quotes' bars. A word that is wider than a line stays
// whole, so that ids and paths can be copied from a terminal, unless it is text without
// spaces, as Japanese is: that is broken between any two characters. Tints fill no
// column.
func Wrap(text string, width int) string { return wrap(text, width, false) }

// WrapAll is [Wrap] that breaks each word that is wider than a line.
func WrapAll(text string, width int) string { return wrap(text, width, true) }

// wrap is [Wrap], or with all [WrapAll]. It does not use ansi.Wrap, which breaks words at
// hyphens, and so ids.
func wrap(text string, width int, all bool) string {
	if width < 1 || len(text) <= width {
		return text
	}
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		wrapLine(&b, line, width, all)
	}
	return b.String()
}

func wrapLine(b *strings.Builder, line string, width int, all bool) {
	if len(line) <= width || Columns(line) <= width {
		b.WriteString(line)
		return
	}
	indent := lead.FindString(line)
	room := width - Columns(indent)
	if room < max(width/2, 4) {
		indent, room, line = "", width, strings.TrimLeft(line, " ")
	}
	next, used := "\n"+strings.Map(behind, indent), 0
	words := strings.Split(strings.TrimSuffix(line[len(indent):], "\n"), " ")
	b.WriteString(indent)
	for i, word := range words {
		columns := Columns(word)
		parts := columns > room && (all || spaceless(word))
		switch {
		case i == 0:
		case used+1+columns <= room, parts && spaceless(word) && used+3 <= room:
			b.WriteString(" ")
			used++
		case word != "":
			b.WriteString(next)
			used = 0
		default: // a space at the end of a line
			continue
		}
		if parts {
			word = ansi.Hardwrap(strings.Repeat(" ", used)+word, room, true)[used:]
			if used == 0 {
				word = strings.TrimPrefix(word, "\n")
			}
			last := word[strings.LastIndexByte(word, '\n')+1:]
			columns = Columns(last)
			if len(last) < len(word) {
				used = 0
			}
			word = strings.ReplaceAll(word, "\n", next)
		}
		b.WriteString(word)
		used += columns
	}
	if strings.HasSuffix(line, "\n") {
		b.WriteString("\n")
	}
}

// behind returns the character that a further line has below a character of its indent.
func behind(r rune) rune {
	if r == '│' {
		return r
	}
	return ' '
}

// spaceless reports whether a word has characters of two columns: it is of a
// script that puts no spaces between words.
func spaceless(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return Columns(string(r)) > 1 })
}
