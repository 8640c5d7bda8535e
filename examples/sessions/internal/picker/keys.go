package picker

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/rivo/uniseg"
)

// keyPress is a pressed key: its name, and the text that it types. Text from the clipboard has
// no name.
type keyPress struct{ Name, Text string }

// pressed handles a key in the current mode. In the list a letter belongs to the filter:
// commands are keys with Ctrl, or letters after ctrl+k.
func (m *Model) pressed(k keyPress) tea.Cmd {
	m.note = note{}
	if m.mode == importing && k.Name != "ctrl+z" {
		return m.importKey(k)
	}
	switch k.Name {
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+z":
		return tea.Suspend
	}
	switch m.mode {
	case commanding:
		return m.commandKey(k)
	case searching, exporting, renaming:
		return m.lineKey(k)
	case forking:
		return m.forkKey(k)
	case asking:
		return m.answerKey(k)
	case helping:
		m.rest()
		return nil
	}
	if by := m.step(k.Name, len(m.list.items)); by != 0 {
		m.list.move(by)
		return nil
	}
	return m.browseKey(k)
}

// interrupt leaves the picker as an interrupted program.
func (m *Model) interrupt() tea.Cmd {
	m.interrupted = true
	return tea.Quit
}

// page returns the number of sessions by which a key for a page moves.
func (m *Model) page() int {
	return max(1, m.divided().list.height-2)
}

// step returns by how many of n entries a key moves a choice, 0 for a key that moves none.
func (m *Model) step(name string, n int) int {
	return map[string]int{"up": -1, "ctrl+p": -1, "down": 1, "ctrl+n": 1, "pgup": -m.page(), "pgdown": m.page(), "home": -n, "end": n}[name]
}

// browseKey is for the keys of the list that do something. All others change the filter.
func (m *Model) browseKey(k keyPress) tea.Cmd {
	switch k.Name {
	case "esc":
		return m.leave()
	case "ctrl+k":
		m.mode = commanding
	case "ctrl+a":
		return m.widen()
	case "ctrl+f":
		m.mode, m.input = searching, ""
	case "shift+up":
		m.preview.scroll++
	case "shift+down":
		m.preview.scroll = max(0, m.preview.scroll-1)
	case "right":
		return m.openSubs()
	case "left":
		m.list.closeSubs()
	case "enter", "tab":
		return m.act(k.Name)
	default:
		if query := m.list.query; edit(&query, k) {
			m.list.filter(query)
		}
	}
	return nil
}

// commandKey carries out the command of the letter after ctrl+k.
func (m *Model) commandKey(k keyPress) tea.Cmd {
	m.rest()
	switch k.Name {
	case "q":
		return tea.Quit
	case "/":
		m.mode, m.input = searching, ""
	case "?":
		m.mode = helping
	case "u":
		return m.undo()
	case "i":
		m.askImport()
	case "a":
		return m.widen()
	case "s":
		m.list.sort((m.list.order + 1) % orders)
	case "f", "x", "r", "y", "d", "t":
		return m.act(k.Name)
	}
	return nil
}

// act begins the action of a key on the chosen session.
func (m *Model) act(key string) tea.Cmd {
	s, ok := m.list.chosen()
	if !ok {
		m.fail("There is no session.")
		return nil
	}
	switch key {
	case "y":
		m.tell("Copied: " + clean(s.ID))
		return tea.SetClipboard(s.ID)
	case "r":
		m.mode, m.target, m.input = renaming, *s, s.Stored
		return nil
	case "f":
		m.mode, m.target, m.turns, m.awaits = forking, *s, turnChoice{}, awaited{ofTurns, s.Key}
		return m.do.turns(s.Key)
	case "x":
		m.mode, m.target, m.input = exporting, *s, clean(s.ID[:min(8, len(s.ID))])+".md"
		return nil
	case "d":
		m.awaits = awaited{ofPlan, s.Key}
		return m.do.plan(*s)
	}
	if m.hosting { // its key was meant for the host, or the pager
		return nil
	}
	if key == "tab" {
		m.hosting, m.awaits = true, awaited{} // no answer comes between
		return m.do.show(*s)
	}
	m.awaits = awaited{ofCheck, s.Key}
	if key == "t" {
		m.awaits.kind = ofOrigin
	}
	return m.do.check(*s)
}

// openSubs shows the sub-sessions of the chosen session. The first time it requests a
// list that has them.
func (m *Model) openSubs() tea.Cmd {
	s, ok := m.list.chosen()
	if !ok {
		return nil
	}
	k := s.Key
	m.list.openSubs(k)
	if !m.subs {
		m.subs = true
		return m.reread(k)
	}
	if !m.list.hasSubs(k) {
		m.tell("It has no sub-sessions.")
	}
	return nil
}

// leave goes one step back: it ends the search, else the filter, else the picker.
func (m *Model) leave() tea.Cmd {
	switch {
	case m.found.text != "":
		m.found = search{gen: m.found.gen + 1}
		m.list.limit(nil)
		return m.do.search(m.found.gen, "", "")
	case m.list.query != "":
		m.list.filter("")
		return nil
	}
	return tea.Quit
}

// lineKey changes the text that is typed: a search, a name, or the name of a file.
func (m *Model) lineKey(k keyPress) tea.Cmd {
	switch k.Name {
	case "esc":
		m.rest()
	case "enter":
		text := strings.TrimSpace(m.input)
		was := m.mode
		if m.rest(); text == "" {
			return nil
		}
		switch was {
		case exporting:
			return m.do.export(m.target.Key, text)
		case renaming:
			return m.do.rename(m.target.Key, text)
		}
		return m.search(text)
	default:
		edit(&m.input, k)
	}
	return nil
}

// edit changes the text that is typed, and reports whether it did.
func edit(text *string, k keyPress) bool {
	switch k.Name {
	case "backspace", "ctrl+h":
		last := ""
		for g := uniseg.NewGraphemes(*text); g.Next(); {
			last = g.Str()
		}
		*text = strings.TrimSuffix(*text, last)
	case "ctrl+u":
		*text = ""
	case "ctrl+w":
		*text = strings.TrimRight(*text, " ")
		*text = (*text)[:strings.LastIndexByte(*text, ' ')+1]
	default:
		return typed(text, k.Text)
	}
	return true
}

// typed appends to the text that is typed, as it is but for control characters and line
// breaks, of which the latter become spaces.
func typed(to *string, text string) bool {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t', r == '\u2028', r == '\u2029':
			return ' '
		case r == utf8.RuneError, unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
	*to += text
	return text != ""
}

// forkKey chooses the turn of a fork.
func (m *Model) forkKey(k keyPress) tea.Cmd {
	t := &m.turns
	switch k.Name {
	case "esc", "q":
		m.rest()
	case "enter":
		if len(t.turns) == 0 {
			return nil
		}
		m.rest()
		m.from = m.list.choice()
		return m.do.fork(m.target.Key, t.cursor+1)
	default:
		name := cmp.Or(map[string]string{"k": "up", "j": "down", "g": "home", "G": "end"}[k.Name], k.Name)
		t.cursor = max(0, min(len(t.turns)-1, t.cursor+m.step(name, len(t.turns))))
	}
	return nil
}

// answerKey answers a question.
func (m *Model) answerKey(k keyPress) tea.Cmd {
	switch k.Name {
	case "y", "Y":
		m.rest()
		return m.ask.yes()
	case "n", "N", "esc", "q", "enter":
		m.rest()
		if m.ask.no != nil && (k.Name == "n" || k.Name == "N") {
			return m.ask.no()
		}
		m.forget(m.ask.about)
		m.tell("Nothing was changed.")
	}
	return nil
}

// renamed shows the new name of a session.
func (m *Model) renamed(e Renamed) {
	if e.Err != nil {
		m.failed("Not renamed", e.Err)
		return
	}
	m.list.rename(e.Key, e.Name)
	m.tell(fmt.Sprintf("It is called %q now.", clean(e.Name)))
}
