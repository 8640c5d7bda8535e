package picker

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// Model is the state of the picker. It is not safe for concurrent use.
type Model struct {
	Options
	do    actions
	subs  bool   // the list has sub-sessions
	again bool   // sessions changed while they were read
	scope string // the project that is shown; "": all

	mode    mode
	list    list
	gen     int       // of the reading under way, or of the last one
	reading bool      // a reading is under way
	fresh   []Session // sessions of a reading that is not the first one
	first   bool      // the reading is the first one, whose sessions are shown as they come

	preview preview
	found   search
	turns   turnChoice
	target  Session // to fork or export
	awaits  awaited // the answer to the last key for a session
	from    Key     // the choice when a fork or a restore was requested
	hosting bool    // a host or a pager was started, and has not ended
	input   string  // text that is being typed in the modes searching, exporting and renaming
	ask     question
	note    note
	undone  []undoable
	screen  size // of the terminal

	offer    Offer // conversations that are not here
	progress Progressed
	stopping bool // the import is to end

	interrupted bool // the user left by ctrl+c
}

// mode selects the meaning of keys.
type mode int

const (
	browsing   mode = iota // chooses a session, and types the filter
	commanding             // types the letter of a command
	renaming               // types a name
	searching              // types the text to search for
	exporting              // types the name of a file
	forking                // chooses a turn
	asking                 // answers yes or no
	importing              // waits for an import
	helping
)

// preview is the part of the chosen session that is shown.
type preview struct {
	key      Key
	passages []Passage
	err      string // clean
	loaded   bool
	waiting  bool     // a reading is under way; another one begins when it is over
	stale    bool     // the session may have changed since that began
	scroll   int      // lines up from the end
	drawn    []string // passages, in lines of the width; nil: not drawn yet
	width    int
}

// search is a search for text.
type search struct {
	gen     int
	text    string // as it was typed; "": no search is shown
	running bool
	hits    map[Key][]Excerpt
}

// turnChoice is the list of turns from which a fork is chosen.
type turnChoice struct {
	loaded bool
	turns  []string
	cursor int // from 0
}

// question is a question with the answer yes or no.
type question struct {
	text  string
	yes   func() tea.Cmd
	about Key            // of the session that it would remove, or the zero Key
	no    func() tea.Cmd // nil: no does nothing
}

// note is a line about the outcome of an action.
type note struct {
	text string
	bad  bool
}

// undoable is something that u takes back: a removal, or a fork.
type undoable struct {
	receipt trash.Receipt
	key     Key // of the removed session, or of the fork
	fork    bool
	under   bool // it is being undone
	name    string
}

// Options are the settings of a [Model].
type Options struct {
	Color bool
	Plain bool // texts of models are not rendered
	Now   func() time.Time
	Home  string // directory that is shown as "~"; "": none
	Host  string // program that resumes sessions, by name or path

	Project string // the one to show first; "": all

	Synced string // line about the last sync of Project; "": none

	Offers bool // histories of other tools are offered for import
}

// actions are what the picker does outside of its model. Each begins at once, and its command
// returns the message with the outcome. watch, list, search and bring send messages until they are
// done; a list or search that is begun ends the one before.
type actions interface {
	watch() tea.Cmd                                  // Noticed, until the picker ends
	list(gen int, project string, subs bool) tea.Cmd // Listed; project "": all; with subs sub-sessions too
	search(gen int, text, project string) tea.Cmd    // Found; text "": only ends the one before
	preview(k Key) tea.Cmd                           // Previewed
	turns(k Key) tea.Cmd                             // TurnsRead
	fork(k Key, turn int) tea.Cmd                    // Forked
	export(k Key, file string) tea.Cmd               // Exported
	rename(k Key, name string) tea.Cmd               // Renamed
	plan(s Session) tea.Cmd                          // Planned, of a removal
	remove(s Session, allow []trash.Kind) tea.Cmd    // Deleted
	restore(k Key, r trash.Receipt) tea.Cmd          // Restored
	check(s Session) tea.Cmd                         // Checked
	makeDir(s Session) tea.Cmd                       // Checked, after the directory of the session was made
	resume(s Session) tea.Cmd                        // Returned
	onward(s Session, tool string) tea.Cmd           // Returned
	show(s Session) tea.Cmd                          // Returned
	seek() tea.Cmd                                   // Offered or Unread
	bring() tea.Cmd                                  // Progressed and Imported, of what was offered last
	stopImport()                                     // after the history under way
}

// New returns a model without sessions.
func New(o Options, do actions) *Model {
	return &Model{Options: o, do: do, scope: o.Project, list: list{cursor: -1}, gen: 1, reading: true, first: true}
}

// Init begins the watch and the first reading.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.do.watch(), m.do.list(m.gen, m.scope, m.subs))
}

// tell shows a note until the next key.
func (m *Model) tell(text string) { m.note = note{text: text} }

// fail shows an error until the next key.
func (m *Model) fail(text string) { m.note = note{text: text, bad: true} }

// rest ends a mode: the list is shown again.
func (m *Model) rest() { m.mode = browsing }

// resting reports whether the user chooses, and is asked for nothing.
func (m *Model) resting() bool { return m.mode == browsing }

// still returns the session to choose after a request of the user: k, or the zero Key if
// the user chose another session in between, or does something else.
func (m *Model) still(k Key) Key {
	if !m.resting() || m.list.choice() != m.from {
		return Key{}
	}
	return k
}

// begin asks a question.
func (m *Model) begin(q question) {
	m.mode, m.ask = asking, q
}

// reread lists the sessions anew and chooses one, if it is not the zero Key. The results
// of a reading under way no longer count: the sessions may have changed since.
func (m *Model) reread(choose Key) tea.Cmd {
	if choose != (Key{}) {
		m.list.wanted = choose
	}
	m.gen++
	m.reading, m.first, m.fresh = true, false, nil
	m.preview.loaded, m.preview.stale = false, m.preview.waiting
	return m.do.list(m.gen, m.scope, m.subs)
}

// widen shows all projects, or again the one that was shown first.
func (m *Model) widen() tea.Cmd {
	if m.Project == "" {
		return nil
	}
	if m.scope == "" {
		m.scope = m.Project
	} else {
		m.scope = ""
	}
	todo := m.reread(m.list.choice())
	if m.found.text != "" {
		todo = tea.Batch(todo, m.search(m.found.text))
	}
	return todo
}

// search begins a search for a text, in upper or lower case, also in sub-sessions.
func (m *Model) search(text string) tea.Cmd {
	var subs tea.Cmd
	if !m.subs {
		m.subs = true
		subs = m.reread(Key{})
	}
	m.found = search{gen: m.found.gen + 1, text: text, running: true, hits: map[Key][]Excerpt{}}
	m.list.limit(map[Key]bool{})
	return tea.Batch(subs, m.do.search(m.found.gen, text, m.scope))
}

// look requests a preview of the chosen session, if there is none yet.
func (m *Model) look() tea.Cmd {
	k := m.list.choice()
	if k == m.preview.key && (m.preview.loaded || m.preview.waiting) || m.preview.waiting {
		return nil
	}
	if k != m.preview.key {
		m.preview = preview{key: k}
	}
	if k == (Key{}) {
		return nil
	}
	m.preview.waiting = true
	return m.do.preview(k)
}
