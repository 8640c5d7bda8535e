package picker

import (
	"strings"
	"unicode/utf8"
)

// pressed handles a key in the current mode.
func (m *Model) pressed(k Pressed) []Command {
	m.note = note{}
	if m.mode == importing && k.Name != "ctrl+z" {
		return m.importKey(k)
	}
	switch k.Name {
	case "ctrl+c":
		return []Command{Quit{}}
	case "ctrl+z":
		return []Command{Suspend{}}
	}
	switch m.mode {
	case filtering:
		return m.filterKey(k)
	case searching, exporting:
		return m.lineKey(k)
	case forking:
		return m.forkKey(k)
	case asking:
		return m.answerKey(k)
	case helping:
		m.mode = browsing
		return nil
	}
	if m.moveKey(k.Name) {
		return nil
	}
	return m.browseKey(k)
}

// page returns the number of sessions by which a key for a page moves.
func (m *Model) page() int {
	return max(1, m.divided().list.height-2)
}

// moveKey chooses another session, and reports whether the key does that.
func (m *Model) moveKey(name string) bool {
	switch name {
	case "up", "k", "ctrl+p":
		m.list.move(-1)
	case "down", "j", "ctrl+n":
		m.list.move(1)
	case "pgup":
		m.list.move(-m.page())
	case "pgdown":
		m.list.move(m.page())
	case "home", "g":
		m.list.move(-len(m.list.items))
	case "end", "G":
		m.list.move(len(m.list.items))
	default:
		return false
	}
	return true
}

// browseKey is for the keys of the list that do something.
func (m *Model) browseKey(k Pressed) []Command {
	s, chosen := m.list.chosen()
	switch k.Name {
	case "q":
		return []Command{Quit{}}
	case "esc":
		return m.leave()
	case "ctrl+a":
		return m.widen()
	case "tab":
		m.mode, m.input = filtering, m.list.query
	case "/":
		m.mode, m.input = searching, ""
	case "?":
		m.mode = helping
	case "u":
		return m.undo()
	case "i":
		m.askImport()
	case "K", "shift+up":
		d := m.divided()
		m.preview.scroll = min(m.preview.scroll+1, m.maxScroll(d.preview.width, d.preview.height))
	case "J", "shift+down":
		m.preview.scroll = max(0, m.preview.scroll-1)
	case "enter", "f", "x", "d":
		if !chosen {
			m.fail("There is no session.")
			return nil
		}
		return m.act(k.Name, *s)
	}
	return nil
}

// act begins the action of a key on a session.
func (m *Model) act(key string, s Session) []Command {
	switch key {
	case "f":
		m.mode, m.target, m.turns, m.awaits = forking, s, turnChoice{}, awaited{ofTurns, s.Key}
		return []Command{Turns{s.Key}}
	case "x":
		m.mode, m.target, m.input = exporting, s, clean(s.ID[:min(8, len(s.ID))])+".md"
		return nil
	case "d":
		m.awaits = awaited{ofPlan, s.Key}
		return []Command{Plan{s}}
	}
	if m.hosting { // its key was meant for the host
		return nil
	}
	m.awaits = awaited{ofCheck, s.Key}
	return []Command{Check{Session: s}}
}

// leave goes one step back: it ends the search, else the filter, else the picker.
func (m *Model) leave() []Command {
	switch {
	case m.found.text != "":
		m.found = search{gen: m.found.gen + 1}
		m.list.limit(nil)
		return []Command{Search{Gen: m.found.gen}}
	case m.list.query != "":
		m.list.filter("")
		return nil
	}
	return []Command{Quit{}}
}

// filterKey changes the filter.
func (m *Model) filterKey(k Pressed) []Command {
	switch k.Name {
	case "esc":
		m.mode = browsing
		m.list.filter("")
		return nil
	case "tab":
		m.mode = browsing
		return nil
	case "enter":
		m.mode = browsing
		return m.browseKey(k)
	case "up", "down", "pgup", "pgdown", "ctrl+p", "ctrl+n":
		m.moveKey(k.Name)
		return nil
	}
	if m.edit(k) {
		m.list.filter(m.input)
	}
	return nil
}

// lineKey changes the text of a search or the name of a file.
func (m *Model) lineKey(k Pressed) []Command {
	switch k.Name {
	case "esc":
		m.mode = browsing
	case "enter":
		text := strings.TrimSpace(m.input)
		was := m.mode
		if m.mode = browsing; text == "" {
			return nil
		}
		if was == exporting {
			return []Command{Export{m.target.Key, text}}
		}
		return m.search(text)
	default:
		m.edit(k)
	}
	return nil
}

// edit changes the text that is typed, and reports whether it did.
func (m *Model) edit(k Pressed) bool {
	switch k.Name {
	case "backspace", "ctrl+h":
		_, n := utf8.DecodeLastRuneInString(m.input)
		m.input = m.input[:len(m.input)-n]
	case "ctrl+u":
		m.input = ""
	case "ctrl+w":
		m.input = strings.TrimRight(m.input, " ")
		m.input = m.input[:strings.LastIndexByte(m.input, ' ')+1]
	default:
		return m.write(k.Text)
	}
	return true
}

// write appends to the text that is typed. What a terminal would obey is left
// out.
func (m *Model) write(text string) bool {
	text = strings.ReplaceAll(clean("."+text+"."), "\ufffd", "")
	m.input += text[1 : len(text)-1]
	return len(text) > 2
}

// forkKey chooses the turn of a fork.
func (m *Model) forkKey(k Pressed) []Command {
	t := &m.turns
	switch k.Name {
	case "esc", "q":
		m.mode = browsing
	case "up", "k":
		t.cursor = max(0, t.cursor-1)
	case "down", "j":
		t.cursor = max(0, min(len(t.turns)-1, t.cursor+1))
	case "pgup":
		t.cursor = max(0, t.cursor-m.page())
	case "pgdown":
		t.cursor = max(0, min(len(t.turns)-1, t.cursor+m.page()))
	case "home", "g":
		t.cursor = 0
	case "end", "G":
		t.cursor = max(0, len(t.turns)-1)
	case "enter":
		if len(t.turns) == 0 {
			return nil
		}
		m.mode, m.from = browsing, m.list.choice()
		return []Command{Fork{m.target.Key, t.cursor + 1}}
	}
	return nil
}

// answerKey answers a question.
func (m *Model) answerKey(k Pressed) []Command {
	switch k.Name {
	case "y", "Y":
		m.mode = browsing
		if again, ok := m.ask.yes.(Check); ok {
			m.awaits = awaited{ofCheck, again.Session.Key}
		}
		if _, ok := m.ask.yes.(Import); ok {
			m.mode, m.progress, m.stopping = importing, Progressed{}, false
		}
		return []Command{m.ask.yes}
	case "n", "N", "esc", "q", "enter":
		m.mode = browsing
		if removal, ok := m.ask.yes.(Delete); ok {
			m.forget(removal.Session.Key)
		}
		m.tell("Nothing was changed.")
	}
	return nil
}
