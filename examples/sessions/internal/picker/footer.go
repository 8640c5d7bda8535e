package picker

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// footerLines limits the lines of a footer.
const footerLines = 4

// footer draws the last lines: a question, a note, or keys.
func (m *Model) footer(width int) []string {
	switch {
	case m.mode == asking:
		if m.ask.no != nil {
			return m.paragraph(bold, m.ask.text+"  y: there, n: in "+clean(m.Host)+", esc: not now", width)
		}
		return m.paragraph(bold, m.ask.text+"  y/n", width)
	case m.mode == importing:
		return m.paragraph(bold, m.progressText(), width)
	case m.note.text != "" && m.note.bad:
		return m.paragraph(red, m.note.text, width)
	case m.note.text != "":
		return m.paragraph(green, m.note.text, width)
	}
	if m.mode == commanding {
		return m.hintLines(m.commands(false), width, footerLines)
	}
	lines := m.hintLines(m.hints(), width, 1)
	if m.mode == browsing && m.list.shown > 0 && m.offer.total() > 0 { // an empty list has the offer itself
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
		lines[i] = m.paint(t, line)
	}
	return lines
}

// hint is a key and its action.
type hint struct{ key, does string }

// hints returns the keys of the current mode. Where there is little room, the last ones
// are left out.
func (m *Model) hints() []hint {
	switch m.mode {
	case searching:
		return []hint{{"enter", "search"}, {"esc", "back"}}
	case exporting:
		return []hint{{"enter", "write"}, {"esc", "back"}, {".md .html .jsonl .tar", "forms"}}
	case renaming:
		return []hint{{"enter", "rename"}, {"esc", "back"}, {"ctrl+u", "empty"}}
	case forking:
		return []hint{{"enter", "fork after this turn"}, {"esc", "back"}}
	case helping:
		return []hint{{"any key", "back"}}
	}
	hints := []hint{{"enter", "resume"}, {"tab", "read"}, {"ctrl+k", "commands"}, {"esc", "quit"}, {"letters", "filter"}}
	if m.list.query != "" || m.found.text != "" {
		hints[3].does = "show all"
	}
	switch {
	case m.Project == "":
	case m.scope == "":
		hints = append(hints, hint{"ctrl+a", "this project"})
	default:
		hints = append(hints, hint{"ctrl+a", "all projects"})
	}
	return append(hints, hint{"ctrl+f", "search"}, hint{"→", "sub-sessions"})
}

// hintLines draws hints in at most so many lines. None is broken, and none is wider than
// the line.
func (m *Model) hintLines(hints []hint, width, most int) []string {
	const space = "\u00a0"
	var all []string
	for _, h := range hints {
		if screen.Columns(h.key+" "+h.does) <= width {
			all = append(all, m.paint(cyan, strings.ReplaceAll(h.key, " ", space))+space+strings.ReplaceAll(h.does, " ", space))
		}
	}
	lines := strings.Split(screen.Wrap(strings.Join(all, "  "), width), "\n")
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(strings.TrimRight(line, " "), space, " ")
	}
	return lines[:min(len(lines), most)]
}

// commands are the letters after ctrl+k, with the words of the help for all that it shows.
var commands = []struct {
	hint
	whole string
}{
	{hint{"d", "trash"}, "move to the trash"},
	{hint{"u", "undo"}, "undo a removal or a fork"},
	{hint{"i", "import"}, "import what other tools have"},
	{hint{"f", "fork"}, "fork after a turn"},
	{hint{"x", "export"}, "export to a file"},
	{hint{"r", "rename"}, "rename"},
	{hint{"y", "copy id"}, "copy the id"},
	{hint{"t", "its tool"}, "go on in the tool from which it came"},
	{hint{"/", "search"}, "as ctrl+f, and a as ctrl+a"},
	{hint{"s", "sort"}, "sort by time, title or turns"},
	{hint{"?", "all keys"}, ""},
	{hint{"q", "quit"}, "quit"},
	{hint{"esc", "back"}, ""},
}

// commands returns the commands after ctrl+k, or as the help shows them.
func (m *Model) commands(help bool) (all []hint) {
	for _, c := range commands {
		if c.key == "i" && m.offer.total() == 0 || help && c.whole == "" {
			continue
		}
		if help {
			c.hint = hint{"  " + c.key, c.whole}
		}
		all = append(all, c.hint)
	}
	return all
}

// keyTable is what ctrl+k ? shows, before the commands.
var keyTable = []hint{
	{"letters", "filter by title, prompt, id, project"},
	{"enter", "resume the session"},
	{"tab", "read the conversation"},
	{"→ ←", "show or hide its sub-sessions"},
	{"ctrl+a", "all projects, or this one"},
	{"ctrl+f", "search all conversations"},
	{"shift+↑ ↓", "scroll the preview"},
	{"esc", "back; from the list, quit"},
	{"ctrl+z", "suspend"},
	{"ctrl+c", "quit"},
	{"ctrl+k", "and then:"},
}

func (m *Model) help(width int) (lines []string) {
	for _, h := range slices.Concat(keyTable, m.commands(true)) {
		key := pad(h.key, 13)
		lines = append(lines, m.paint(cyan, screen.Fit(key, width))+screen.Fit(h.does, width-13))
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
func (h *histories) seek(ctx context.Context, s store) tea.Msg {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found, h.failed = nil, nil
	var all []foreign.History
	for _, tool := range foreign.Tools() {
		some, err := foreign.Find(ctx, tool, &foreign.FindOptions{Home: h.homes[tool]})
		all, h.failed = append(all, some...), errors.Join(h.failed, err)
	}
	if len(all) == 0 {
		return h.told(ctx, nil)
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
		if offer == nil {
			offer = Offer{}
		}
		offer[one.Tool]++
	}
	return h.told(ctx, offer)
}

// told returns the message of a search.
func (h *histories) told(ctx context.Context, offer Offer) tea.Msg {
	if h.failed != nil && ctx.Err() == nil {
		return Unread{Offered{offer}, h.failed}
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
func (h *histories) bring(ctx, stop context.Context, run func(context.Context, []foreign.History, func(foreign.History, error) bool) (string, error), tell func(tea.Msg)) {
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
