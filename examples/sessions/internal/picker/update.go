package picker

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
)

// Update changes the state for a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var todo tea.Cmd
	switch e := msg.(type) {
	case tea.WindowSizeMsg:
		m.screen = size{e.Width, e.Height}
	case tea.KeyPressMsg:
		todo = m.pressed(keyPress{e.String(), e.Text})
	case tea.PasteMsg:
		todo = m.pressed(keyPress{Text: e.Content})
	case Listed:
		todo = m.listed(e)
	case Noticed:
		todo = m.noticed()
	case Previewed:
		m.previewed(e)
	case TurnsRead:
		m.turnsRead(e)
	case Found:
		m.hit(e)
	case Checked:
		todo = m.checked(e)
	case Returned:
		todo = m.returned(e)
	default:
		todo = m.changed(e)
	}
	return m, tea.Batch(todo, m.look())
}

// changed handles the outcomes of actions on a session.
func (m *Model) changed(e tea.Msg) tea.Cmd {
	switch e := e.(type) {
	case Forked:
		if e.Err != nil {
			m.failed("Not forked", e.Err)
			return nil
		}
		m.undone = append(m.undone, undoable{key: e.Key, fork: true, name: "the fork"})
		m.tell(fmt.Sprintf("Forked after turn %d: %s. ctrl+k u takes that back.", e.Turn, clean(e.Key.ID)))
		return m.reread(m.still(e.Key))
	case Exported:
		if e.Err != nil {
			m.failed("Not exported", e.Err)
			return nil
		}
		m.tell("Exported to " + clean(e.File) + ". Look for secrets before you publish it.")
	case Renamed:
		m.renamed(e)
	case Planned:
		m.planned(e)
	case Deleted:
		if e.Err != nil {
			m.failed("Not removed", e.Err)
			return nil
		}
		m.forget(e.Key)
		m.undone = append(m.undone, undoable{key: e.Key, receipt: e.Receipt, name: e.Name})
		m.list.remove(e.Key)
		m.tell(fmt.Sprintf("%q is in the trash. ctrl+k u brings it back.", e.Name))
		if m.reading { // and the reading may have found the session before its removal
			return m.reread(m.list.choice())
		}
	case Restored:
		if e.Err != nil {
			m.undoing(e.Key, false)
			m.failed("Not brought back", e.Err)
			return nil
		}
		m.forget(e.Key)
		m.tell("It is back.")
		return m.reread(m.still(e.Key))
	default:
		return m.offered(e)
	}
	return nil
}

func (m *Model) failed(what string, err error) { m.fail(what + ": " + clean(err.Error())) }

// listed takes sessions of a reading. The first reading is shown as it comes, a later
// one when it is over, so that the list does not jump. After the first reading, the
// model requests a search for conversations of other tools.
func (m *Model) listed(e Listed) (todo tea.Cmd) {
	if e.Gen != m.gen {
		return nil
	}
	if m.first {
		m.list.add(e.Sessions)
	} else {
		m.fresh = append(m.fresh, e.Sessions...)
	}
	if !e.Done {
		return nil
	}
	m.reading = false
	if e.Err != nil {
		m.failed("Not all sessions could be read", e.Err)
	} else if n := len(e.Unread); n > 0 {
		m.failed(fmt.Sprintf("%d could not be read", n), e.Unread[0])
	}
	if !m.first && e.Err == nil {
		m.list.replace(m.fresh)
	}
	m.first, m.fresh = false, nil
	if m.again {
		m.again = false
		todo = m.noticed()
	}
	if m.Offers {
		m.Offers = false
		todo = tea.Batch(todo, m.do.seek())
	}
	return todo
}

// noticed lists the sessions anew, and reads the preview anew. What is shown stays until then.
func (m *Model) noticed() tea.Cmd {
	if m.reading {
		m.again = true
		return nil
	}
	return m.reread(Key{})
}

// previewed takes a preview, unless another session was chosen in between, or the
// session may have changed since it was read.
func (m *Model) previewed(e Previewed) {
	stale := m.preview.stale
	m.preview.waiting, m.preview.stale = false, false
	if stale || e.Key != m.preview.key || e.Key != m.list.choice() {
		m.preview.loaded = false
		return
	}
	m.preview.passages, m.preview.drawn, m.preview.loaded, m.preview.err = e.Passages, nil, true, ""
	if e.Err != nil {
		m.preview.err = clean(e.Err.Error())
	}
}

func (m *Model) turnsRead(e TurnsRead) {
	if !m.awaits.arrived(ofTurns, e.Key) || m.mode != forking {
		return
	}
	if e.Err != nil || len(e.Turns) == 0 {
		m.rest()
		if m.fail("There is no turn to fork after."); e.Err != nil {
			m.failed("Not forked", e.Err)
		}
		return
	}
	m.turns.loaded, m.turns.turns, m.turns.cursor = true, e.Turns, len(e.Turns)-1
}

// hit takes the matches of a search.
func (m *Model) hit(e Found) {
	if e.Gen != m.found.gen {
		return
	}
	if e.Done {
		m.found.running = false
		if e.Err != nil {
			m.failed("Not everything could be searched", e.Err)
		}
		return
	}
	m.found.hits[e.Key] = e.Excerpts
	m.list.only[e.Key] = true
	m.list.arrange()
}

// planned asks whether a session is to be removed.
func (m *Model) planned(e Planned) {
	if !m.awaits.arrived(ofPlan, e.Session.Key) || !m.resting() { // the user does something else
		return
	}
	if e.Err != nil || e.Refused {
		m.forget(e.Session.Key)
	}
	name := fmt.Sprintf("%q", e.Session.name())
	yes := func() tea.Cmd { return m.do.remove(e.Session, e.Allow) }
	switch {
	case e.Err != nil:
		m.failed("Not removed", e.Err)
	case e.Refused:
		m.fail(name + " stays: " + clean(e.Obstacle) + ".")
	case e.Obstacle != "":
		m.begin(question{"Move " + name + " to the trash although " + clean(e.Obstacle) + "?", yes, e.Session.Key, nil})
	default:
		m.begin(question{"Move " + name + " to the trash?", yes, e.Session.Key, nil})
	}
}

// checked resumes a session, or goes on with it in the tool from which it came.
func (m *Model) checked(e Checked) tea.Cmd {
	onward := func() tea.Cmd {
		m.hosting = true
		return m.do.onward(e.Session, e.Origin)
	}
	switch {
	case m.awaits.arrived(ofOrigin, e.Session.Key) && m.resting():
		if e.Origin != "" {
			return onward()
		}
		m.fail("It did not come from another tool, or that is not on PATH. \"sessions resume --with=TOOL\" goes on in any.")
	case !m.awaits.arrived(ofCheck, e.Session.Key) || !m.resting():
	case e.Origin != "" && e.Obstacle != Locked:
		m.begin(question{"It came from " + host.Tool(e.Origin) + ". Go on there?", onward, Key{}, func() tea.Cmd { return m.resume(e) }})
	default:
		return m.resume(e)
	}
	return nil
}

// resume resumes a checked session, or shows why it cannot be resumed.
func (m *Model) resume(e Checked) tea.Cmd {
	program := clean(m.Host)
	switch e.Obstacle {
	case NoHost:
		m.tell(program + " is not on PATH. Copied: " + e.Command)
		return tea.SetClipboard(e.Command)
	case NoDir:
		m.tell("The session does not tell its directory. In that, run what was copied: " + e.Command)
		return tea.SetClipboard(e.Command)
	case DirGone:
		m.begin(question{"The directory " + clean(e.Session.Dir) + " is gone. Make it, empty, and resume there?", func() tea.Cmd {
			m.awaits = awaited{ofCheck, e.Session.Key}
			return m.do.makeDir(e.Session)
		}, Key{}, nil})
	case Locked:
		m.failed("It cannot be resumed now", e.Err)
	default:
		if e.Err != nil {
			m.failed("Not resumed", e.Err)
			return nil
		}
		m.hosting = true
		return m.do.resume(e.Session)
	}
	return nil
}

// returned shows the list again after the host has ended, or the user has seen a session.
func (m *Model) returned(e Returned) tea.Cmd {
	m.hosting = false
	if e.Err != nil {
		m.failed(clean(m.Host), e.Err)
	}
	return m.reread(e.Key)
}
