package picker

import (
	"cmp"
	"slices"
	"strings"
)

// order is an order of sessions.
type order int

const (
	byTime order = iota // the newest first
	byTitle
	byTurns // the longest first
	orders
)

// words returns the order as the header shows it.
func (o order) words() string { return [...]string{"", " by title", " by turns"}[o] }

// sort shows the sessions in an order.
func (l *list) sort(o order) {
	l.wanted, l.order = l.choice(), o
	l.arrange()
}

// sorted returns the sessions to show, in order, and those that fit the filter best first.
func (l *list) sorted() (shown []int) {
	for i := range l.all {
		s := &l.all[i]
		if l.scores[i] == 0 || l.only != nil && !l.only[s.Key] || l.hidden(s) {
			continue
		}
		shown = append(shown, i)
	}
	switch l.order {
	case byTitle:
		slices.SortStableFunc(shown, func(a, b int) int {
			return strings.Compare(strings.ToLower(l.all[a].name()), strings.ToLower(l.all[b].name()))
		})
	case byTurns:
		slices.SortStableFunc(shown, func(a, b int) int { return cmp.Compare(l.all[b].Turns, l.all[a].Turns) })
	}
	slices.SortStableFunc(shown, func(a, b int) int { return cmp.Compare(l.scores[b], l.scores[a]) })
	return shown
}

// hidden reports whether a session is left out because its parent is not opened. A filter
// and a search look at all sub-sessions that were read.
func (l *list) hidden(s *Session) bool {
	return s.Sub && l.only == nil && l.query == "" && !l.opened[s.from()]
}

// total returns the number of sessions that could be shown.
func (l *list) total() (n int) {
	for i := range l.all {
		if !l.hidden(&l.all[i]) {
			n++
		}
	}
	return n
}

// farthest limits the parents above a session: a circle of parents is no tree.
const farthest = 64

// nest returns the sessions of a project with each below its parent, if that is among
// them. A tree is in the place of its first session.
func (l *list) nest(sessions []int) (items []item) {
	at := make(map[Key]int, len(sessions))
	for _, i := range sessions {
		at[l.all[i].Key] = i
	}
	under := map[int][]int{}
	for _, i := range sessions {
		if up, ok := at[l.all[i].from()]; ok {
			under[up] = append(under[up], i)
		}
	}
	done := map[int]bool{}
	var add func(i, depth int)
	add = func(i, depth int) {
		if done[i] {
			return
		}
		done[i] = true
		items = append(items, item{session: i, depth: depth})
		for _, below := range under[i] {
			add(below, depth+1)
		}
	}
	for _, i := range sessions {
		root := i
		for range farthest {
			if up, ok := at[l.all[root].from()]; ok {
				root = up
			}
		}
		add(root, 0)
	}
	return items
}

// openSubs shows the sub-sessions of a session.
func (l *list) openSubs(k Key) {
	if l.opened == nil {
		l.opened = map[Key]bool{}
	}
	l.opened[k], l.wanted = true, k
	l.arrange()
}

// closeSubs hides the sub-sessions of the chosen session, or else those beside it.
func (l *list) closeSubs() {
	s, ok := l.chosen()
	if !ok {
		return
	}
	k := s.Key
	if !l.opened[k] && s.Sub {
		k = s.from()
	}
	delete(l.opened, k)
	l.wanted = k
	l.arrange()
}

// hasSubs reports whether a session has sub-sessions.
func (l *list) hasSubs(k Key) bool {
	return slices.ContainsFunc(l.all, func(s Session) bool { return s.Sub && s.from() == k })
}

// rename changes the title of a session.
func (l *list) rename(k Key, title string) {
	for i := range l.all {
		if l.all[i].Key == k {
			l.all[i].Title, l.all[i].Stored = clean(title), title
			l.all[i].prepare()
		}
	}
	l.wanted = l.choice()
	l.rescore(0)
}
