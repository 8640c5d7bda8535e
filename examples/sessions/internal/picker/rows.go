package picker

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
)

// modelFrom is how many columns a list has that tells models.
const modelFrom = 70

// shownPart returns which of n lines to show, so that the cursor is among them.
func shownPart(n, cursor, height int) (from, to int) {
	if n <= height {
		return 0, n
	}
	from = max(0, min(cursor-height/2, n-height))
	return from, from + height
}

// listLines draws the list: exactly height lines that are width columns wide.
func (m *Model) listLines(width, height int) []string {
	if m.list.shown == 0 {
		lines := []string{pad(m.emptyText(), width)}
		if m.mode == browsing && m.offer.any() {
			for _, line := range wrap(m.offer.sentence(), width) {
				lines = append(lines, m.style.paint(cyan, pad(line, width)))
			}
		}
		lines = lines[:min(len(lines), height)]
		return append(lines, m.padded(nil, width, height-len(lines))...)
	}
	from, to := shownPart(len(m.list.items), m.list.cursor, height)
	var lines []string
	for i := from; i < to; i++ {
		it := &m.list.items[i]
		if it.heading != "" {
			lines = append(lines, m.heading(it, width))
			continue
		}
		lines = append(lines, m.row(&m.list.all[it.session], i == m.list.cursor, width))
	}
	return append(lines, m.padded(nil, width, height-len(lines))...)
}

// padded returns exactly n plain lines, all of one width.
func (m *Model) padded(lines []string, width, n int) []string {
	lines = fill(lines, n)
	for i, line := range lines {
		lines[i] = pad(line, width)
	}
	return lines
}

func (m *Model) emptyText() string {
	switch {
	case m.reading:
		return "Reading…"
	case m.found.running:
		return "Searching…"
	case m.found.text != "" || m.list.query != "":
		return "Nothing fits. esc shows all."
	}
	return "There are no sessions yet."
}

// heading draws a project.
func (m *Model) heading(it *item, width int) string {
	count := " " + strconv.Itoa(it.count)
	path := fitEnd(m.short(it.heading), width-columns(count))
	return m.style.paint(magenta, path) + m.style.paint(dim, pad(count, width-columns(path)))
}

// short returns a path with "~" for the home directory.
func (m *Model) short(path string) string {
	if rest, ok := strings.CutPrefix(path, m.home); ok && m.home != "" && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		return "~" + rest
	}
	return path
}

// row draws a session.
func (m *Model) row(s *Session, chosen bool, width int) string {
	marks := ""
	if s.Damaged {
		marks = "! "
	}
	if s.Fork {
		marks += "↳ "
	}
	if s.Conflict {
		marks += "conflict copy: "
	}
	when := fmt.Sprintf(" %8s", screen.Ago(m.now(), s.Changed))
	if width < 30 {
		when = ""
	}
	model := ""
	if width >= modelFrom {
		model = " " + pad(s.Model, 18)
	}
	title := pad(marks+s.name(), width-2-columns(model)-columns(when))
	if chosen {
		return m.style.paint(reverse, fit("▸ "+title+model+when, width))
	}
	return fit("  ", width) + title + m.style.paint(dim, model+when)
}
