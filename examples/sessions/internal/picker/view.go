package picker

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/markdown"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
)

// The sizes from which a screen has room for more.
const (
	besideFrom = 100 // columns: the preview is beside the list
	belowFrom  = 16  // rows: the preview is below it
)

// View draws the picker on the whole terminal.
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.draw(m.screen.width, m.screen.height), "\n"))
	v.AltScreen = true
	return v
}

// draw returns exactly height lines, none wider than width. It fits every size.
func (m *Model) draw(width, height int) []string {
	if width < 1 || height < 1 {
		return nil
	}
	footer := m.footer(width)
	footer = footer[:min(len(footer), max(1, height-2))]
	var lines []string
	if height > len(footer) {
		lines = append(lines, m.header(width))
	}
	if room := height - len(lines) - len(footer); room > 0 {
		lines = append(lines, m.body(width, room)...)
	}
	return append(lines, footer...)
}

// split is how a body is divided between the list and the preview. A preview
// without columns or rows is not shown.
type split struct {
	list, preview size
	beside        bool
}

type size struct{ width, height int }

// divided divides the body of the screen.
func (m *Model) divided() split {
	return divide(m.screen.width, m.screen.height-1-len(m.footer(m.screen.width)))
}

// divide divides a body.
func divide(width, height int) split {
	switch {
	case width >= besideFrom:
		left := width * 11 / 20
		return split{size{left, height}, size{width - left - 3, height}, true}
	case height >= belowFrom-2:
		below := height * 2 / 5
		return split{size{width, height - below - 1}, size{width, below}, false}
	}
	return split{list: size{width, height}}
}

// body draws the lines between the header and the footer.
func (m *Model) body(width, height int) []string {
	switch {
	case m.mode == helping:
		return fill(m.help(width), height)
	case m.mode == forking:
		return m.turnLines(width, height)
	}
	d := divide(width, height)
	lines := m.listLines(d.list.width, d.list.height)
	if d.preview.height == 0 {
		return lines
	}
	side := m.previewLines(d.preview.width, d.preview.height)
	if !d.beside {
		return append(append(lines, m.paint(dim, strings.Repeat("─", width))), side...)
	}
	for i := range lines {
		lines[i] = pad(lines[i], d.list.width) + m.paint(dim, " │ ") + side[i]
	}
	return lines
}

// fill returns exactly n lines.
func fill(lines []string, n int) []string {
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines[:n]
}

// typing returns the name of the text that is typed: "" if none is, or the filter.
func (m *Model) typing() string {
	return map[mode]string{searching: "Search text: ", exporting: "Export to: ", renaming: "Name: "}[m.mode]
}

// header draws the first line: how many sessions there are, and the filter.
func (m *Model) header(width int) string {
	total := m.list.total()
	count := strconv.Itoa(total)
	if m.list.shown < total {
		count = strconv.Itoa(m.list.shown) + " of " + count
	}
	if m.reading && m.first || m.found.running {
		count += "…"
	}
	left := "Sessions " + count + m.list.order.words()
	label, text := "", ""
	typing := m.typing()
	switch {
	case typing != "":
		label, text = typing, cleanTyped(m.input)
	case m.found.text != "":
		label, text = "Text: ", clean(m.found.text)
	case m.list.query != "":
		label, text = "Filter: ", cleanTyped(m.list.query)
	}
	if label == "" {
		line := m.paint(bold, screen.Fit(left, width))
		if room := width - screen.Columns(left) - 3; m.Synced != "" && m.scope == m.Project && room > 0 {
			line += "   " + m.paint(cyan, screen.Fit(clean(m.Synced), room))
		}
		return line
	}
	if screen.Columns(left)+3+len(label)+16 > width {
		left = ""
	}
	if left != "" {
		left += "   "
	}
	room := width - screen.Columns(left) - len(label)
	line := m.paint(bold, left) + m.paint(cyan, screen.Fit(label, width))
	if typing != "" || m.mode == browsing && m.list.query != "" && m.found.text == "" {
		return line + screen.FitEnd(text, room-1) + m.paint(reverse, screen.Fit(" ", room))
	}
	return line + screen.Fit(text, room)
}

// tint is a way to show text: the parameters of an SGR sequence. Of the sixteen colors,
// which the owner of the terminal chose, it uses red to cyan: they can be read on light
// and on dark ground. It never uses black, white or grey. Nothing asks the terminal for
// its ground.
type tint string

const (
	plain   tint = ""
	bold    tint = "1"
	dim     tint = "2"
	reverse tint = "7"
	red     tint = "31"
	green   tint = "32"
	magenta tint = "1;35"
	cyan    tint = "36"
)

// paint returns text in a tint. Without color, bold, dim and reversed text is still so.
func (m *Model) paint(t tint, text string) string {
	if !m.Color {
		switch t {
		case magenta:
			t = bold
		case red, green, cyan:
			t = plain
		}
	}
	if t == plain || text == "" {
		return text
	}
	return "\x1b[" + string(t) + "m" + text + "\x1b[m"
}

// clean returns text as one line that a terminal shows and does not obey. Runs
// of space are one space.
func clean(text string) string {
	return strings.Join(strings.Fields(screen.Plain(screen.Steady(strings.ToValidUTF8(text, "\ufffd")))), " ")
}

// cleanTyped is clean for a text that is being typed: it keeps each space.
func cleanTyped(text string) string {
	return screen.Plain(screen.Steady(strings.ToValidUTF8(text, "\ufffd")))
}

// cleanLines is clean for text of several lines. It keeps line breaks and the
// space at the beginning of lines.
func cleanLines(text string) string {
	return strings.TrimRight(screen.Lines(screen.Steady(strings.ToValidUTF8(text, "\ufffd"))), " \n")
}

// pad fills a text up to so many columns. It is cut when it is wider.
func pad(text string, width int) string {
	text = screen.Fit(text, width)
	return text + strings.Repeat(" ", max(0, width-screen.Columns(text)))
}

// wrap breaks clean lines so that none is wider than width.
func wrap(text string, width int) []string {
	lines := strings.Split(screen.WrapAll(text, max(1, width)), "\n")
	for i, line := range lines {
		lines[i] = screen.Fit(line, width)
	}
	return lines
}

// previewLines draws the chosen session: exactly height lines, none wider than
// width. It ends the scrolling at the first line.
func (m *Model) previewLines(width, height int) []string {
	s, ok := m.list.chosen()
	if !ok || height < 1 {
		return fill(nil, height)
	}
	head, text := m.facts(s, width), m.said(width)
	head = head[:min(len(head), height, max(2, height/3))]
	if hits := m.found.hits[s.Key]; len(hits) > 0 {
		text = m.excerpts(hits, width)
	}
	room := height - len(head)
	over := max(0, len(text)-room)
	m.preview.scroll = min(m.preview.scroll, over)
	from := over - m.preview.scroll
	return fill(append(head, text[from:min(len(text), from+room)]...), height)
}

// modelColumns is how much room the name of a model takes at most.
const modelColumns = 32

// facts draws the name, turns, model and id of a session.
func (m *Model) facts(s *Session, width int) []string {
	turns := strconv.Itoa(s.Turns) + " turns"
	if s.Turns == 1 {
		turns = "1 turn"
	}
	facts := []string{turns}
	for _, text := range []string{screen.Fit(s.Model, modelColumns), clean(s.ID)} {
		if text != "" {
			facts = append(facts, text)
		}
	}
	if s.Damaged {
		facts = append([]string{"damaged"}, facts...)
	}
	lines := []string{m.paint(bold, screen.Fit(s.name(), width))}
	for _, line := range wrap(strings.Join(facts, " · "), width) {
		lines = append(lines, m.paint(dim, line))
	}
	return append(lines, "")
}

// said draws the last turns.
func (m *Model) said(width int) (lines []string) {
	p := &m.preview
	switch {
	case p.err != "":
		return m.paragraph(red, p.err, width)
	case !p.loaded:
		return nil
	case len(p.passages) == 0:
		return []string{screen.Fit("Nothing was said yet.", width)}
	}
	if p.drawn == nil || p.width != width {
		p.drawn, p.width = nil, width
		first, left := len(p.passages), renderedBytes
		for first > 0 && left >= len(p.passages[first-1].Text) {
			first--
			left -= len(p.passages[first].Text)
		}
		for i := range p.passages {
			p.drawn = append(p.drawn, m.passage(&p.passages[i], i >= first, width)...)
		}
		if p.drawn[0] == "" {
			p.drawn = p.drawn[1:]
		}
	}
	return p.drawn
}

// renderedBytes limits the last texts that are rendered. Earlier texts are shown without
// rendering, so that a key is answered at once.
const renderedBytes = 40_000

// passage draws a passage, which has at least one line. It renders the text of a model,
// if render is set and the settings allow it.
func (m *Model) passage(p *Passage, render bool, width int) []string {
	var lines []string
	switch {
	case p.Brief != "":
		return []string{m.paint(dim, screen.Fit("  "+p.Brief, width))}
	case p.Role == "user":
		lines = []string{"", m.paint(green, screen.Fit("You", width))}
	default:
		lines = []string{"", m.paint(cyan, screen.Fit(p.Role, width))}
	}
	if render && !m.Plain && p.Role == "assistant" {
		return append(lines, m.rendered(p.Text, width)...)
	}
	return append(lines, wrap(p.Text, width)...)
}

// rendered draws Markdown.
func (m *Model) rendered(text string, width int) []string {
	return strings.Split(markdown.Render(text, markdown.Options{Width: width, Colour: m.Color}), "\n")
}

// excerpts draws the matches of a search.
func (m *Model) excerpts(hits []Excerpt, width int) (lines []string) {
	for _, h := range hits {
		t := cyan
		if h.Role == "user" {
			t = green
		}
		lines = append(lines, m.paint(t, screen.Fit(h.Role, width)))
		lines = append(lines, wrap(h.Before+"»"+h.Text+"«"+h.After, width)...)
		lines = append(lines, "")
	}
	return lines
}
