package picker

import (
	"cmp"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// list is the sessions, those of them that are shown, and which one is chosen.
type list struct {
	all    []Session // newest first
	scores []int     // how well each of them fits the filter; 0: not
	query  string
	only   map[Key]bool // nil: all of them, else these alone

	items  []item
	shown  int  // number of sessions among the items
	cursor int  // index of the chosen session among the items; -1: none
	moved  bool // a person chose it, so it stays chosen
	wanted Key  // is chosen as soon as it is there
}

// item is a line of the list: a project, or a session of the one above.
type item struct {
	heading string // path of the project, clean; "" for a session
	count   int    // sessions of the project that are shown
	session int    // index of the session
}

// add adds sessions, which are older than those that are there.
func (l *list) add(more []Session) {
	for i := range more {
		more[i].prepare()
	}
	l.all = append(l.all, more...)
	l.rescore(len(l.scores))
}

// replace puts other sessions in the place of those that are there.
func (l *list) replace(all []Session) {
	if l.moved && l.wanted == (Key{}) {
		l.wanted = l.choice()
	}
	l.all, l.scores = nil, nil
	l.add(all)
}

// remove takes a session out. The one below it is chosen then.
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

// arrange makes the items anew, and keeps what is chosen.
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

// groups returns the projects of the sessions to show. That of the newest
// session comes first, or with a query that of the one that fits best.
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

// move chooses the session so many further down, or up, as far as there are
// some.
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
