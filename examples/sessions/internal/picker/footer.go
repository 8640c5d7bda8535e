package picker

import (
	"slices"
	"strings"
)

// footerLines is how many lines a footer has at most.
const footerLines = 4

// footer draws the last lines: a question, a note, or keys.
func (m *Model) footer(width int) []string {
	switch {
	case m.mode == asking:
		return m.paragraph(bold, m.ask.text+"  y/n", width)
	case m.mode == importing:
		return m.paragraph(bold, m.progressText(), width)
	case m.note.text != "" && m.note.bad:
		return m.paragraph(red, m.note.text, width)
	case m.note.text != "":
		return m.paragraph(green, m.note.text, width)
	}
	lines := []string{m.hints(width)}
	if m.mode == browsing && m.list.shown > 0 && m.offer.any() { // an empty list has the offer itself
		lines = append(lines, m.paragraph(cyan, m.offer.sentence(), width)...)
	}
	return lines
}

func (m *Model) paragraph(t tint, text string, width int) []string {
	lines := wrap(text, width)
	if len(lines) > footerLines { // its end tells what to do
		lines = append(lines[:footerLines-1], lines[len(lines)-1])
	}
	for i, line := range lines {
		lines[i] = m.style.paint(t, line)
	}
	return lines
}

// hint is a key and what it does.
type hint struct{ key, does string }

// hintsOf are the keys of a mode. Those that come first are shown first where
// there is little room.
func hintsOf(mode mode) []hint {
	switch mode {
	case filtering:
		return []hint{{"enter", "resume"}, {"tab", "done"}, {"esc", "no filter"}, {"↑↓", "choose"}}
	case searching:
		return []hint{{"enter", "search"}, {"esc", "back"}}
	case exporting:
		return []hint{{"enter", "write"}, {"esc", "back"}, {".md .html .jsonl .tar", "forms"}}
	case forking:
		return []hint{{"enter", "fork after this turn"}, {"esc", "back"}}
	case helping:
		return []hint{{"any key", "back"}}
	}
	return []hint{{"enter", "resume"}, {"tab", "filter"}, {"?", "keys"}, {"q", "quit"}, {"/", "search"}, {"f", "fork"}, {"x", "export"}, {"d", "trash"}, {"u", "undo"}}
}

func (m *Model) hints(width int) string {
	var line strings.Builder
	used := 0
	for _, h := range hintsOf(m.mode) {
		if used > 0 {
			h.key = "  " + h.key
		}
		n := columns(h.key) + 1 + columns(h.does)
		if used+n > width {
			break
		}
		used += n
		line.WriteString(m.style.paint(cyan, h.key) + " " + h.does)
	}
	return line.String()
}

// keyTable is what ? shows.
var keyTable = []hint{
	{"enter", "resume the session"},
	{"tab", "filter what is shown"},
	{"/", "search all conversations"},
	{"f", "fork after a turn"},
	{"x", "export to a file"},
	{"d", "move to the trash"},
	{"u", "undo a removal or a fork"},
	{"↑ ↓ j k", "choose a session"},
	{"PgUp PgDn", "a page up or down"},
	{"Home End g G", "the first or the last"},
	{"K J", "scroll the preview"},
	{"esc", "back; from the list, quit"},
	{"ctrl+z", "suspend"},
	{"q ctrl+c", "quit"},
}

func (m *Model) help(width int) (lines []string) {
	table := keyTable
	if m.offer.any() {
		at := slices.IndexFunc(table, func(h hint) bool { return h.key == "u" }) + 1
		table = slices.Insert(slices.Clone(table), at, hint{"i", "import what other tools have"})
	}
	for _, h := range table {
		key := pad(h.key, 13)
		lines = append(lines, m.style.paint(cyan, fit(key, width))+fit(h.does, width-13))
	}
	return lines
}
