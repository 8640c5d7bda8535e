package picker

import (
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
)

// clean returns text as one line that a terminal shows and does not obey. Runs
// of space are one space.
func clean(text string) string {
	return strings.Join(strings.Fields(screen.Plain(steady(strings.ToValidUTF8(text, "\ufffd")))), " ")
}

// cleanLines is clean for text of several lines. It keeps line breaks and the
// space at the beginning of lines.
func cleanLines(text string) string {
	return strings.TrimRight(screen.Lines(steady(strings.ToValidUTF8(text, "\ufffd"))), " \n")
}

// steady leaves out the characters about whose width terminals disagree: those
// that join, color or restyle the character before. What is left has the same
// width on all of them. A letter and its accent become one character, since the
// renderer draws no accent that follows an ASCII letter.
func steady(text string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		switch {
		case r == '\u200d', r >= '\ufe00' && r <= '\ufe0f', r >= 0x1f3fb && r <= 0x1f3ff, r == '\u200b', r == '\u200c', r == '\u2060', r == '\u00ad':
			return -1
		}
		return r
	}, text))
}

// columns returns how many columns a terminal shows a clean text in.
func columns(text string) int { return screen.Columns(text) }

// fit cuts a clean text to at most so many columns. A text that is cut ends in
// "…".
func fit(text string, width int) string {
	if width < 1 {
		return ""
	}
	return screen.Fit(text, width)
}

// fitEnd is fit that keeps the end of the text, as is right for paths.
func fitEnd(text string, width int) string { return screen.FitEnd(text, width) }

// pad fills a text up to so many columns. It is cut when it is wider.
func pad(text string, width int) string {
	text = fit(text, width)
	return text + strings.Repeat(" ", max(0, width-columns(text)))
}

// wrap breaks clean lines so that none is wider than width. It breaks at
// spaces where it can.
func wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrapLine(line, max(1, width))...)
	}
	return lines
}

func wrapLine(line string, width int) (lines []string) {
	for columns(line) > width {
		end, space, used, state := 0, -1, 0, -1
		for rest := line; rest != ""; {
			cluster, next, w, newState := uniseg.FirstGraphemeClusterInString(rest, state)
			if cluster == " " && end > 0 {
				space = end
			}
			if used+w > width {
				break
			}
			used += w
			end += len(cluster)
			rest, state = next, newState
		}
		if end == 0 { // a character that is wider than all there is
			cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(line, -1)
			lines, line = append(lines, "…"), line[len(cluster):]
			continue
		}
		if space > 0 && strings.TrimSpace(line[:space]) != "" {
			end = space
		}
		lines = append(lines, strings.TrimRight(line[:end], " "))
		line = strings.TrimLeft(line[end:], " ")
	}
	if line == "" && len(lines) > 0 {
		return lines
	}
	return append(lines, line)
}
