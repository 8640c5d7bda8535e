package screen

import (
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
