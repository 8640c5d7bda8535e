package sessionstore

// unref ends a call's use. The lock stays idle after the last one, unless
// somebody waits for it.
func (w *owners) unref(l *ownerLock) error {
	w.enterHeld(l)
	defer w.leave(l)
	if !w.endUse(l) {
		return nil
	}
	if l.line.Empty() && w.keepIdle(l) {
		return nil
	}
	return l.giveUp()
}

// unrefLast is unref of a call that expects no other: the lock does not stay.
func (w *owners) unrefLast(l *ownerLock) error {
	w.enterHeld(l)
	defer w.leave(l)
	if !w.endUse(l) {
		return nil
	}
	return l.giveUp()
}

// release ends a host's use. After the last host's, the record says so.
func (w *owners) release(l *ownerLock) error {
	w.enterHeld(l)
	defer w.leave(l)
	w.mu.Lock()
	l.hosts--
	hosted := l.hosts > 0
	w.mu.Unlock()
	switch {
	case w.endUse(l):
		return l.giveUp()
	case l.held == nil || hosted:
		return nil
	}
	return l.held.Retract()
}
