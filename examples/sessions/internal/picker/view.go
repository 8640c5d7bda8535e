package picker

import (
	"strconv"
	"strings"
)

// The sizes from which a screen has room for more.
const (
	besideFrom = 100 // columns: the preview stands beside the list
	belowFrom  = 16  // rows: the preview stands below it
)

// View draws the picker: exactly height lines, none wider than width. It fits
// every size.
func (m *Model) View(width, height int) []string {
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

// body draws what is between the header and the footer.
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
		return append(append(lines, m.style.paint(dim, strings.Repeat("─", width))), side...)
	}
	for i := range lines {
		lines[i] += m.style.paint(dim, " │ ") + side[i]
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

// header draws the first line: how many sessions there are, and the filter.
func (m *Model) header(width int) string {
	count := strconv.Itoa(len(m.list.all))
	if m.list.shown < len(m.list.all) {
		count = strconv.Itoa(m.list.shown) + " of " + count
	}
	if m.reading && m.first || m.found.running {
		count += "…"
	}
	left := "Sessions " + count
	label, text := "", ""
	switch {
	case m.mode == filtering:
		label, text = "Filter: ", m.input
	case m.mode == searching:
		label, text = "Search text: ", m.input
	case m.mode == exporting:
		label, text = "Export to: ", m.input
	case m.found.text != "":
		label, text = "Text: ", m.found.text
	case m.list.query != "":
		label, text = "Filter: ", m.list.query
	}
	if label == "" {
		return m.style.paint(bold, pad(left, width))
	}
	typing := m.mode == filtering || m.mode == searching || m.mode == exporting
	if columns(left)+3+len(label)+16 > width {
		left = ""
	}
	if left != "" {
		left += "   "
	}
	room := width - columns(left) - len(label)
	line := m.style.paint(bold, left) + m.style.paint(cyan, fit(label, width))
	if typing {
		return line + fitEnd(m.input, room-1) + m.style.paint(reverse, fit(" ", room))
	}
	return line + fit(text, room)
}
