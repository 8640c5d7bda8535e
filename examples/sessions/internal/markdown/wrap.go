package markdown

import (
	"strings"

	"github.com/rivo/uniseg"
)

// cluster is a piece of text that a terminal shows as one character.
type cluster struct {
	text  string
	look  look
	width int  // columns
	ends  bool // a line may end behind it
}

// line is a line of a terminal.
type line []cluster

// clusters returns the clusters of spans. A line may end behind a space and beside a
// character of two columns, since the scripts that have them put no spaces between
// words.
func clusters(spans ...span) (all line) {
	var written strings.Builder
	for _, s := range spans {
		written.WriteString(s.text)
	}
	rest, state, at, end := written.String(), -1, 0, 0
	for _, s := range spans {
		for end += len(s.text); at < end; {
			var about int
			c := cluster{look: s.look}
			c.text, rest, about, state = uniseg.StepString(rest, state)
			c.width, c.ends = about>>uniseg.ShiftWidth, about&uniseg.MaskLine != uniseg.LineDontBreak
			all = append(all, c)
			at += len(c.text)
		}
	}
	for i, c := range all {
		all[i].ends = c.text == " " || c.ends && (c.width > 1 || i+1 < len(all) && all[i+1].width > 1)
	}
	return all
}

func (l line) columns() (n int) {
	for _, c := range l {
		n += c.width
	}
	return n
}

// wrap returns text in lines of at most width columns. With whole, a word that is wider
// stays in one piece.
func wrap(spans []span, width int, whole bool) (lines []line) {
	for left := clusters(spans...); len(left) > 0; {
		end := left.first(width, whole)
		lines = append(lines, left[:end].trimmed())
		left = left[end:]
	}
	return lines
}

func (p page) wrap(spans []span, width int) []line { return wrap(spans, width, p.Whole) }

// first returns how many clusters make the first line, with the spaces and the line
// break at its end.
func (l line) first(width int, whole bool) int {
	used, end, indent := 0, 0, true
	for i, c := range l {
		used += c.width
		indent = indent && c.text == " "
		switch {
		case c.text == "\n":
			return i + 1
		case used > width && c.text != " " && end > 0:
			return end
		case used > width && c.text != " " && !whole:
			return max(i, 1)
		case c.ends && !indent:
			end = i + 1
		}
	}
	return len(l)
}

// trimmed returns a line without the spaces at its end.
func (l line) trimmed() line {
	for len(l) > 0 && (l[len(l)-1].text == " " || l[len(l)-1].text == "\n") {
		l = l[:len(l)-1]
	}
	return l[:len(l):len(l)]
}

// paint writes a line.
func (l line) paint(out *strings.Builder, colour bool) {
	now := look("")
	for _, c := range l.trimmed() {
		if colour && c.look != now {
			now.end(out)
			c.look.begin(out)
			now = c.look
		}
		out.WriteString(c.text)
	}
	now.end(out)
}

func (l look) begin(out *strings.Builder) {
	if l != "" {
		out.WriteString("\x1b[" + string(l) + "m")
	}
}

func (l look) end(out *strings.Builder) {
	if l != "" {
		out.WriteString("\x1b[m")
	}
}
