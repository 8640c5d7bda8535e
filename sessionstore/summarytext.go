package sessionstore

import (
	"strings"
	"unicode"
)

// How many characters of a title and of a first prompt a [Summary] has.
const (
	titleLimit  = 120
	promptLimit = 500
)

// promptText returns the text of a message as a [Summary] shows it.
func promptText(m Message) string {
	return strings.TrimSpace(shorten(m.Content(), promptLimit, func(r rune) bool { return r == '\n' || r == '\t' }))
}

// titleOf returns the title of a session with that name and first prompt.
func titleOf(name, prompt string) string {
	for _, text := range [...]string{name, prompt} {
		for line := range strings.Lines(text) {
			line = strings.ReplaceAll(line, "\t", " ")
			if line = strings.TrimSpace(shorten(line, titleLimit, func(rune) bool { return false })); line != "" {
				return line
			}
		}
	}
	return ""
}

// shorten returns the first n characters of text, without space before them,
// and without control and bidirectional characters but those that keep wants.
// Bytes that are no UTF-8 become U+FFFD.
func shorten(text string, n int, keep func(rune) bool) string {
	text = strings.TrimLeftFunc(text, isSpace)
	if plain := text[:min(len(text), n)]; isPlain(plain) {
		return strings.Clone(plain)
	}
	var b strings.Builder
	b.Grow(min(len(text), n))
	for _, r := range text {
		if hidden(r) && !keep(r) {
			continue
		}
		if n--; n < 0 {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isPlain reports whether a text has nothing but the printing characters of
// ASCII.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= unicode.MaxASCII {
			return false
		}
	}
	return true
}

// hidden reports whether r is a control or bidirectional character, or breaks
// lines.
func hidden(r rune) bool {
	if r < unicode.MaxASCII {
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
