package picker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// list holds all sessions, the lines that are shown, and the choice.
type list struct {
	all    []Session // newest first
	scores []int     // how well each of them fits the filter; 0: not
	query  string
	words  int // of the query
	order  order
	opened map[Key]bool // sessions whose sub-sessions are shown
	only   map[Key]bool // nil: all of them, else these alone

	items  []item
	shown  int  // number of sessions among the items
	cursor int  // index of the chosen session in items; -1: none
	moved  bool // the user chose it, so it stays chosen
	wanted Key  // the session to choose as soon as it is listed
}

// item is a line of the list: a project, or a session of the one above.
type item struct {
	heading string // path of the project, clean; "" for a session
	count   int    // sessions of the project that are shown
	session int    // index of the session
	depth   int    // of the session below that from which it was made
}

// add adds sessions, which are older than the listed ones.
func (l *list) add(more []Session) {
	for i := range more {
		more[i].prepare()
	}
	l.all = append(l.all, more...)
	l.rescore(len(l.scores))
}

// replace replaces all sessions, and keeps the choice of the user.
func (l *list) replace(all []Session) {
	if l.moved && l.wanted == (Key{}) {
		l.wanted = l.choice()
	}
	l.all, l.scores = nil, nil
	l.add(all)
}

// remove takes a session out. If it was the chosen one, the session below it is chosen,
// or else the session above it.
func (l *list) remove(k Key) {
	at := slices.IndexFunc(l.all, func(s Session) bool { return s.Key == k })
	if at < 0 {
		return
	}
	if s, ok := l.chosen(); ok && s.Key == k {
		if l.move(1); l.choice() == k {
			l.move(-1)
		}
	}
	l.wanted = l.choice()
	l.all = slices.Delete(l.all, at, at+1)
	l.scores = slices.Delete(l.scores, at, at+1)
	l.arrange()
}

// filter shows the sessions that fit a query, the best first.
func (l *list) filter(query string) {
	l.query, l.moved = query, false
	l.rescore(0)
}

// limit shows only these sessions, or all for nil.
func (l *list) limit(only map[Key]bool) {
	l.only = only
	l.arrange()
}

func (l *list) rescore(from int) {
	words := strings.Fields(folded(clean(l.query)))
	l.scores, l.words = l.scores[:from], len(words)
	for i := from; i < len(l.all); i++ {
		l.scores = append(l.scores, l.all[i].matches(words))
	}
	l.arrange()
}

// group is a project with its sessions.
type group struct {
	path     string
	known    bool // path is the directory, not the name of the project
	sessions []int
}

// arrange makes the items anew, and keeps the choice of the user.
func (l *list) arrange() {
	chosen := l.choice()
	if l.wanted != (Key{}) {
		chosen = l.wanted
	}
	l.items, l.shown, l.cursor = l.items[:0], 0, -1
	for _, g := range l.groups() {
		l.items = append(l.items, item{heading: g.path, count: len(g.sessions)})
		for _, it := range l.nest(g.sessions) {
			if l.all[it.session].Key == chosen && (l.moved || l.wanted != (Key{})) {
				l.cursor = len(l.items)
				l.wanted, l.moved = Key{}, true
			}
			l.items = append(l.items, it)
			l.shown++
		}
	}
	if l.cursor < 0 && l.shown > 0 {
		l.cursor = 1
	}
}

// groups returns the projects of the sessions to show, in the order of their first
// sessions. Sessions that fit the filter in part are a group of their own.
func (l *list) groups() []*group {
	type part struct {
		project string
		whole   bool
	}
	by := map[part]*group{}
	var groups []*group
	for _, i := range l.sorted() {
		s := &l.all[i]
		key := part{s.Project, l.scores[i] > l.words*wholeScore}
		g := by[key]
		if g == nil {
			g = &group{path: clean(s.Project)}
			by[key] = g
			groups = append(groups, g)
		}
		if !g.known && s.Dir != "" && sessionstore.ProjectSlug(s.Dir) == s.Project {
			g.path, g.known = clean(s.Dir), true
		}
		g.sessions = append(g.sessions, i)
	}
	return groups
}

// chosen returns the chosen session.
func (l *list) chosen() (*Session, bool) {
	if l.cursor < 0 || l.cursor >= len(l.items) || l.items[l.cursor].session >= len(l.all) {
		return nil, false
	}
	return &l.all[l.items[l.cursor].session], true
}

// choice is the key of the chosen session, or the zero Key.
func (l *list) choice() Key {
	if s, ok := l.chosen(); ok {
		return s.Key
	}
	return Key{}
}

// move moves the choice down by so many sessions, or up for a negative number. It stops
// at the ends of the list.
func (l *list) move(by int) {
	l.wanted = Key{}
	step := 1
	if by < 0 {
		step, by = -1, -by
	}
	for at := l.cursor + step; by > 0 && at >= 0 && at < len(l.items); at += step {
		if l.items[at].heading == "" {
			l.cursor, l.moved = at, true
			by--
		}
	}
}

// modelFrom is the number of columns from which a list shows models.
const modelFrom = 70

// shownPart returns which of n lines to show, so that the cursor is among them.
func shownPart(n, cursor, height int) (from, to int) {
	if n <= height {
		return 0, n
	}
	from = max(0, min(cursor-height/2, n-height))
	return from, from + height
}

// listLines draws the list: exactly height lines, none wider than width.
func (m *Model) listLines(width, height int) (lines []string) {
	if m.list.shown == 0 {
		lines = []string{screen.Fit(m.emptyText(), width)}
		if m.mode == browsing && m.list.query == "" && m.offer.total() > 0 {
			lines = append(lines, m.paragraph(cyan, m.offer.sentence(), width)...)
		}
		return fill(lines, height)
	}
	from, to := shownPart(len(m.list.items), m.list.cursor, height)
	for i := from; i < to; i++ {
		it := &m.list.items[i]
		if it.heading != "" {
			lines = append(lines, m.heading(it, width))
			continue
		}
		lines = append(lines, m.row(&m.list.all[it.session], it.depth, i == m.list.cursor, width))
	}
	return fill(lines, height)
}

func (m *Model) emptyText() string {
	switch {
	case m.found.running:
		return "Searching…"
	case m.reading:
		return "Reading…"
	case m.found.text != "" || m.list.query != "":
		if m.scope != "" {
			return "Nothing fits. esc shows all, ctrl+a looks in all projects."
		}
		return "Nothing fits. esc shows all."
	}
	return "There are no sessions yet."
}

// heading draws a project.
func (m *Model) heading(it *item, width int) string {
	count := " " + strconv.Itoa(it.count)
	path := screen.FitEnd(m.short(it.heading), width-screen.Columns(count))
	return screen.Fit(m.paint(magenta, path)+m.paint(dim, count), width)
}

// short returns a path with "~" for the home directory.
func (m *Model) short(path string) string {
	if rest, ok := strings.CutPrefix(path, m.Home); ok && m.Home != "" && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		return "~" + rest
	}
	return path
}

// deepest limits the indent of a session.
const deepest = 6

// row draws a session.
func (m *Model) row(s *Session, depth int, chosen bool, width int) string {
	marks := strings.Repeat("  ", max(0, min(depth, deepest)-1))
	switch {
	case s.Sub:
		marks += "└ "
	case s.Fork:
		marks += "↳ "
	}
	if s.Damaged {
		marks += "! "
	}
	if s.Conflict {
		marks += "conflict copy: "
	}
	when := fmt.Sprintf(" %8s", screen.Ago(m.Now(), s.Changed))
	if width < 30 {
		when = ""
	}
	model := ""
	if width >= modelFrom {
		model = " " + pad(s.Model, 18)
	}
	title := pad(marks+s.name(), width-2-screen.Columns(model)-screen.Columns(when))
	if chosen {
		return m.paint(reverse, screen.Fit("▸ "+title+model+when, width))
	}
	return screen.Fit("  ", width) + title + m.paint(dim, model+when)
}
