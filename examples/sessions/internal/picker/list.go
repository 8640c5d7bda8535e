package picker

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/excerpt"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// list holds all sessions, the lines that are shown, and the choice.
type list struct {
	all    []Session // newest first
	scores []int     // how well each of them fits the filter; 0: not
	query  string
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

// filter shows the sessions that fit a query, the best project first.
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
	words := strings.Fields(strings.ToLower(l.query))
	l.scores = l.scores[:from]
	for i := from; i < len(l.all); i++ {
		l.scores = append(l.scores, l.all[i].matches(words))
	}
	l.arrange()
}

// group is a project with its sessions.
type group struct {
	project, path string
	score         int // of its best session
	sessions      []int
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
		for _, i := range g.sessions {
			if l.all[i].Key == chosen && (l.moved || l.wanted != (Key{})) {
				l.cursor = len(l.items)
				l.wanted, l.moved = Key{}, true
			}
			l.items = append(l.items, item{session: i})
			l.shown++
		}
	}
	if l.cursor < 0 && l.shown > 0 {
		l.cursor = 1
	}
}

// groups returns the projects of the sessions to show. The project with the newest
// session comes first, or with a query the project with the best match.
func (l *list) groups() []*group {
	by := map[string]*group{}
	var groups []*group
	for i := range l.all {
		s := &l.all[i]
		if l.scores[i] == 0 || l.only != nil && !l.only[s.Key] {
			continue
		}
		g := by[s.Project]
		if g == nil {
			g = &group{project: s.Project}
			by[s.Project] = g
			groups = append(groups, g)
		}
		if g.path == "" && s.Dir != "" && sessionstore.ProjectSlug(s.Dir) == s.Project {
			g.path = clean(s.Dir)
		}
		g.score = max(g.score, l.scores[i])
		g.sessions = append(g.sessions, i)
	}
	for _, g := range groups {
		if g.path == "" {
			g.path = clean(g.project)
		}
	}
	if l.query == "" {
		return groups
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(b.score, a.score) })
	for _, g := range groups {
		slices.SortStableFunc(g.sessions, func(a, b int) int { return cmp.Compare(l.scores[b], l.scores[a]) })
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

// Limits of what a search shows.
const (
	maxExcerpts = 5   // of one session
	aroundBytes = 120 // before a match, and after it
)

// search looks for a text, in upper or lower case, in the texts of users and assistants.
// It sends a [Found] event for each session as soon as the text is found there.
func (s store) search(ctx context.Context, c Search, tell func(Event)) {
	pattern, err := regexp.Compile("(?i)" + regexp.QuoteMeta(c.Text))
	if err != nil {
		tell(Found{Gen: c.Gen, Done: true, Err: err})
		return
	}
	q := projects.Query{Project: c.In, Keyword: keyword(c.Text)}
	q.Match = func(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
		found, err := excerpts(st.Messages(ctx, id), pattern)
		if len(found) > 0 {
			tell(Found{Gen: c.Gen, Key: Key{filepath.Base(filepath.Dir(st.Dir())), id}, Excerpts: found})
		}
		return false, err // nothing is to be collected
	}
	_, err = s.projects.Find(ctx, q)
	tell(Found{Gen: c.Gen, Done: true, Err: err})
}

// keyword returns the text if JSON writes it without escapes, so that most transcripts
// need no second look. Else it returns "".
func keyword(text string) string {
	for _, r := range text {
		if r > unicode.MaxASCII || r < ' ' || strings.ContainsRune(`"\/<>&`, r) {
			return ""
		}
	}
	return text
}

// excerpts returns the first match of the pattern in each message, at most maxExcerpts
// matches. With an error it returns the matches before it.
func excerpts(rows func(func(sessionstore.Message, error) bool), pattern *regexp.Regexp) (found []Excerpt, err error) {
	for m, err := range rows {
		if err != nil {
			return found, err
		}
		role := m.Role()
		if role != "user" && role != "assistant" {
			continue
		}
		text := m.Content()
		if at := pattern.FindStringIndex(text); at != nil {
			found = append(found, excerptOf(role, text, at[0], at[1]))
		}
		if len(found) == maxExcerpts {
			break
		}
	}
	return found, nil
}

func excerptOf(role, text string, from, to int) Excerpt {
	before, found, after := excerpt.Of(text, from, to, aroundBytes)
	return Excerpt{role, part(before), part(found), part(after)}
}

// part is clean for a piece of a text, which keeps the space at its ends.
func part(text string) string {
	text = clean("." + strings.ToValidUTF8(text, "") + ".")
	return text[1 : len(text)-1]
}

// How much a match counts.
const (
	wholeScore    = 1000 // the text holds the word
	looseScore    = 500  // the text holds its letters, with gaps
	boundaryScore = 100  // the match begins where a word of the text begins
	gapCost       = 10   // for each byte between the letters
	spread        = 4    // a match is at most this many times as long as the word
)

// score returns how well a word matches a text, both in lower case, and 0 when the word
// does not match.
func score(word, text string) int {
	if word == "" {
		return 1
	}
	if at := strings.Index(text, word); at >= 0 {
		return wholeScore + boundary(text, at) - min(at, boundaryScore/2)
	}
	best := 0
	for from := 0; from < len(text); {
		start, end, ok := window(word, text[from:])
		if !ok {
			break
		}
		start, end = start+from, end+from
		if end-start <= spread*len(word) {
			best = max(best, looseScore+boundary(text, start)-gapCost*(end-start-len(word)))
		}
		_, n := utf8.DecodeRuneInString(text[start:])
		from = start + n
	}
	return best
}

// window returns the shortest part of text that ends where the letters of word
// were found in order for the first time.
func window(word, text string) (start, end int, ok bool) {
	rest := word
	for i, r := range text {
		want, n := utf8.DecodeRuneInString(rest)
		if r != want {
			continue
		}
		if rest = rest[n:]; rest == "" {
			end = i + utf8.RuneLen(r)
			break
		}
	}
	if rest != "" {
		return 0, 0, false
	}
	start = end
	for rest = word; rest != ""; {
		r, n := utf8.DecodeLastRuneInString(text[:start])
		start -= n
		if last, m := utf8.DecodeLastRuneInString(rest); r == last {
			rest = rest[:len(rest)-m]
		}
	}
	return start, end, true
}

// boundary is the bonus of a match that begins at a byte of text.
func boundary(text string, at int) int {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	if at == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
		return boundaryScore
	}
	return 0
}
