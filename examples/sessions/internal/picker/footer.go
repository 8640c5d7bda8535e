package picker

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// footerLines limits the lines of a footer.
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
	if len(lines) > footerLines { // its end says what to do
		lines = append(lines[:footerLines-1], lines[len(lines)-1])
	}
	for i, line := range lines {
		lines[i] = m.style.paint(t, line)
	}
	return lines
}

// hint is a key and its action.
type hint struct{ key, does string }

// hintsOf returns the keys of a mode. Where there is little room, the last ones are left
// out.
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

// histories holds the histories of other tools that can be imported. Its methods may be
// called by several goroutines.
type histories struct {
	homes map[foreign.Tool]string // directories of the tools; default: where the tool keeps its own

	mu     sync.Mutex
	found  []foreign.History // the histories of the last offer
	failed error             // the errors of the search for them
	empty  map[string]bool   // ids of sessions that an import did not make, for lack of a conversation
}

// seek looks for conversations of other tools that are not here. It reads the beginnings
// of their files. A file whose beginning names no directory is not offered: it seems to
// hold no conversation. Another file without a conversation is offered until an import
// has read it whole, and again by the next picker. A session in the trash is not
// offered, and neither is the file of a session that was exported.
func (h *histories) seek(ctx context.Context, s store) Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found, h.failed = nil, nil
	var all []foreign.History
	for _, tool := range []foreign.Tool{foreign.Claude, foreign.Codex} {
		some, err := foreign.Find(ctx, tool, &foreign.FindOptions{Home: h.homes[tool]})
		all, h.failed = append(all, some...), errors.Join(h.failed, err)
	}
	if len(all) == 0 {
		return Offered{}
	}
	here, err := s.ids(ctx)
	if err != nil { // what may be here is not offered
		return Offered{}
	}
	var offer Offer
	for _, one := range all {
		id := one.SessionID()
		if id == "" || one.Dir == "" || here[id] || here[one.ID] || h.empty[id] || s.project != "" && one.Project() != s.project {
			continue
		}
		here[id] = true
		h.found = append(h.found, one)
		if one.Tool == foreign.Claude {
			offer.Claude++
		} else {
			offer.Codex++
		}
	}
	return Offered{offer}
}

// ids returns the ids of all sessions, also of the sessions in the trash.
func (s store) ids(ctx context.Context) (map[string]bool, error) {
	slugs, err := s.projects.Slugs(ctx)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, slug := range slugs {
		st, err := s.projects.Store(slug)
		if err != nil { // the list reports a project that cannot be read
			continue
		}
		entries, err := os.ReadDir(st.Dir())
		if err != nil {
			continue
		}
		for _, e := range entries {
			ids[e.Name()] = true
		}
		receipts, _ := trash.List(ctx, st) // a damaged receipt hides no other
		for _, r := range receipts {
			for _, gone := range r.Sessions {
				ids[gone.ID] = true
			}
		}
	}
	return ids, ctx.Err()
}

// bring imports the histories of the last offer. When stop ends, it finishes the history
// under way; when ctx ends, it ends at once.
func (h *histories) bring(ctx, stop context.Context, run func(context.Context, []foreign.History, func(foreign.History, error) bool) (string, error), tell func(Event)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	tell(Progressed{0, len(h.found)})
	report, err := run(ctx, h.found, func(one foreign.History, err error) bool {
		if errors.Is(err, foreign.ErrEmpty) {
			if h.empty == nil {
				h.empty = map[string]bool{}
			}
			h.empty[one.SessionID()] = true
		}
		n++
		tell(Progressed{n, len(h.found)})
		return stop.Err() == nil
	})
	tell(Imported{clean(report), errors.Join(h.failed, err)})
}
