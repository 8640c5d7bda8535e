package picker

import "slices"

// undo takes back what was done last.
func (m *Model) undo() []Command {
	for i := len(m.undone) - 1; i >= 0; i-- {
		u := m.undone[i]
		switch {
		case u.under:
		case u.fork:
			m.awaits = awaited{ofPlan, u.key}
			return []Command{Plan{Session{Key: u.key, Title: u.name}}}
		default:
			m.undoing(u.key, true)
			m.from = m.list.choice()
			return []Command{Restore{u.key, u.receipt}}
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

// forget takes out what is undone, or what nobody wants to undo.
func (m *Model) forget(k Key) {
	m.undone = slices.DeleteFunc(m.undone, func(u undoable) bool { return u.key == k })
}
