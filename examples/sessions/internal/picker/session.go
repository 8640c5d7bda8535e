package picker

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// Key names a session.
type Key struct{ Project, ID string }

// Session holds the facts of a session that the list shows. Its texts are clean, but for those that say otherwise.
type Session struct {
	Key
	Title, Prompt string
	Stored        string // the title as it is stored, not clean
	Dir           string // its working directory as it is, not clean; "": not known
	Model         string
	Changed       time.Time
	Turns         int
	Fork, Damaged bool
	Sub           bool   // an agent of its parent ran it
	Parent        string // id of the session from which it was made; "": none
	Conflict      bool   // it keeps the history of one of two devices that wrote at once

	fields [5]string // the texts that the filter looks at, in lower case
}

// How much more a match counts in a title, a path and the name of a model than in a prompt,
// of matches that are alike.
var fieldBonus = [4]int{30, 20, 10, 0}

// idScore is how much a match in an id counts. A word matches the beginning of an id, and
// a part of it if it has at least idPart letters; the beginning then counts as a whole word.
const (
	idScore = 400
	idPart  = 4
)

// prepare makes the session ready for the filter.
func (s *Session) prepare() {
	dir := s.Dir
	if dir == "" {
		dir = s.Project
	}
	for i, text := range [...]string{s.Title, dir, s.Model, s.Prompt, s.ID} {
		s.fields[i] = folded(text)
	}
}

// matches returns how well the session fits a filter, whose words are in lower case. It
// returns 0 when a word matches none of the fields.
func (s *Session) matches(words []string) int {
	sum := 1
	for _, word := range words {
		best := 0
		for i, text := range s.fields[:len(fieldBonus)] {
			if n := score(word, text); n > 0 {
				best = max(best, n+fieldBonus[i])
			}
		}
		switch id, long := s.fields[len(fieldBonus)], len(word) >= idPart; {
		case long && strings.HasPrefix(id, word):
			best = max(best, wholeScore)
		case strings.HasPrefix(id, word), long && strings.Contains(id, word):
			best = max(best, idScore)
		}
		if best == 0 {
			return 0
		}
		sum += best
	}
	return sum
}

// from is the key of the session from which this one was made.
func (s *Session) from() Key { return Key{s.Project, s.Parent} }

// name is the title, or the id where there is none.
func (s *Session) name() string {
	if s.Title == "" {
		return clean(s.ID)
	}
	return s.Title
}

// turnLines draws the turns of which one is chosen for a fork.
func (m *Model) turnLines(width, height int) []string {
	t := &m.turns
	lines := []string{m.paint(bold, screen.Fit("Fork "+strconv.Quote(m.target.name())+" after which turn?", width))}
	if !t.loaded {
		return fill(append(lines, "Reading…"), height)
	}
	from, to := shownPart(len(t.turns), t.cursor, max(1, height-1))
	digits := len(strconv.Itoa(len(t.turns)))
	for i := from; i < to; i++ {
		text := fmt.Sprintf("%*d  %s", digits, i+1, t.turns[i])
		if i == t.cursor {
			lines = append(lines, m.paint(reverse, pad("▸ "+text, width)))
			continue
		}
		lines = append(lines, screen.Fit("  "+text, width))
	}
	return fill(lines, height)
}

// Offer counts the conversations of other tools that are not here.
type Offer map[foreign.Tool]int

// total returns how many there are.
func (o Offer) total() (n int) {
	for _, of := range o {
		n += of
	}
	return n
}

// String returns the offer in words.
func (o Offer) String() string {
	var parts []string
	for _, tool := range slices.Sorted(maps.Keys(o)) {
		parts = append(parts, fmt.Sprintf("%d of %s", o[tool], tool.Title()))
	}
	words := strings.Join(parts, ", ")
	if at := strings.LastIndex(words, ", "); at >= 0 {
		words = words[:at] + " and" + words[at+1:]
	}
	n, names, _ := strings.Cut(words, " ")
	if n == "1" {
		return n + " conversation " + names
	}
	return n + " conversations " + names
}

// sentence returns the offer as the list shows it.
func (o Offer) sentence() string {
	if o.total() == 1 {
		return o.String() + " is not here: ctrl+k i imports it"
	}
	return o.String() + " are not here: ctrl+k i imports them"
}

// askImport asks whether to import the offered conversations.
func (m *Model) askImport() {
	if m.offer.total() > 0 && !m.hosting {
		m.begin(question{"Import " + m.offer.String() + "?", func() tea.Cmd {
			m.mode, m.progress, m.stopping = importing, Progressed{}, false
			return m.do.bring()
		}, Key{}, nil})
	}
}

// importKey handles a key during an import. The first esc or ctrl+c stops the import
// after the history under way; ctrl+c then quits at once.
func (m *Model) importKey(k keyPress) tea.Cmd {
	switch {
	case k.Name == "ctrl+c" && m.stopping:
		return m.interrupt()
	case k.Name == "esc", k.Name == "ctrl+c":
		m.stopping = true
		m.do.stopImport()
	}
	return nil
}

func (m *Model) progressText() string {
	text := "Importing…"
	if m.progress.Total > 0 {
		text = fmt.Sprintf("Importing… %d of %d", m.progress.Done, m.progress.Total)
	}
	if m.stopping {
		return text + "  It ends with this one. ctrl+c quits at once."
	}
	return text + "  esc stops"
}

// firstOf returns the first of joined errors, and the number of the others.
func firstOf(err error) string {
	first, others, more := strings.Cut(err.Error(), "\n")
	if more {
		first += fmt.Sprintf(" (and %d more, which sessions import --from tells)", strings.Count(others, "\n")+1)
	}
	return clean(first)
}

// offered handles the events about histories of other tools.
func (m *Model) offered(e tea.Msg) tea.Cmd {
	switch e := e.(type) {
	case Offered:
		m.offer = e.Offer
	case Unread:
		if m.offer = e.Offer; m.note.text == "" { // the report of an import stays
			m.fail("Not all of other tools can be read: " + firstOf(e.Err))
		}
	case Progressed:
		m.progress = e
	case Imported:
		m.offer = Offer{}
		m.rest()
		m.tell(e.Report)
		if e.Err != nil {
			m.fail(strings.TrimSpace(e.Report + " Not all could be imported: " + firstOf(e.Err)))
		}
		return tea.Batch(m.reread(Key{}), m.do.seek())
	}
	return nil
}

// undo takes back the last removal or fork.
func (m *Model) undo() tea.Cmd {
	for i := len(m.undone) - 1; i >= 0; i-- {
		u := m.undone[i]
		switch {
		case u.under:
		case u.fork:
			m.awaits = awaited{ofPlan, u.key}
			return m.do.plan(Session{Key: u.key, Title: u.name})
		default:
			m.undoing(u.key, true)
			m.from = m.list.choice()
			return m.do.restore(u.key, u.receipt)
		}
	}
	if len(m.undone) == 0 {
		m.tell("Nothing was removed or forked here. \"sessions undo\" lists what else can be brought back.")
	}
	return nil
}

// undoing notes whether a removal is being undone.
func (m *Model) undoing(k Key, under bool) {
	for i := range m.undone {
		if m.undone[i].key == k {
			m.undone[i].under = under
		}
	}
}

// forget removes an entry of undone that is taken back, or that the user keeps.
func (m *Model) forget(k Key) {
	m.undone = slices.DeleteFunc(m.undone, func(u undoable) bool { return u.key == k })
}
