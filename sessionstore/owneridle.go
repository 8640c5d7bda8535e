package sessionstore

import "time"

// keepIdle keeps a lock for the next call and reports whether it does. The
// caller has the turn.
func (w *owners) keepIdle(l *ownerLock) bool {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	l.since = time.Now()
	w.idle = append(w.idle, l)
	var surplus []*ownerLock
	if len(w.idle) > idleLocks {
		surplus = w.takeOut(func(i *ownerLock) bool { return i == w.idle[0] })
	}
	if !w.running {
		w.running = true
		w.done.Go(w.pollIdle)
	}
	w.mu.Unlock()
	w.giveUp(surplus)
	return true
}

// pollIdle gives up each idle lock when it is due. It ends when there are none.
func (w *owners) pollIdle() {
	tick := time.NewTicker(idlePoll)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		w.mu.Lock()
		due := w.takeOut((*ownerLock).due)
		w.running = len(w.idle) > 0
		running := w.running
		w.mu.Unlock()
		w.giveUp(due)
		if !running {
			return
		}
	}
}

// due reports whether an idle lock is to be given up.
func (l *ownerLock) due() bool { return time.Since(l.since) >= idleFor || !l.line.Empty() }

// takeOut removes the matching locks from the idle ones and takes their turns. It
// leaves out a lock at which a call has the turn or waits for it. The caller
// holds the mutex.
func (w *owners) takeOut(match func(*ownerLock) bool) []*ownerLock {
	var out, rest []*ownerLock
	for _, l := range w.idle {
		if l.entered > 0 || !match(l) {
			rest = append(rest, l)
			continue
		}
		l.entered++
		l.turn <- struct{}{} // never waits: entered was 0
		out = append(out, l)
	}
	w.idle = rest
	return out
}

// giveUp releases the locks that takeOut returned.
func (w *owners) giveUp(locks []*ownerLock) {
	for _, l := range locks {
		if err := l.giveUp(); err != nil {
			w.log.Warn("ownership lock not given up", "session", l.id, "err", err)
		}
		w.leave(l)
	}
}

// close gives up all locks, those of hosts too, and waits for the goroutine. No
// call may be under way.
func (w *owners) close() error {
	w.mu.Lock()
	var held []*ownerLock
	if !w.closed {
		close(w.stop)
	}
	w.closed, w.idle = true, nil
	for _, l := range w.locks {
		l.entered++
		held = append(held, l)
	}
	w.mu.Unlock()
	w.done.Wait()
	var err error
	for _, l := range held {
		l.turn <- struct{}{}
		err = joinErrors(err, l.giveUp())
		w.leave(l)
	}
	return err
}
