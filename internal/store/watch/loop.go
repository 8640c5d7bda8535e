package watch

import (
	"path/filepath"
	"strings"
	"time"
)

const (
	pollStep   = 250 * time.Millisecond // between two rounds of looks, and two looks at the sessions directory
	eventDelay = 30 * time.Millisecond  // from an event to the look: many events are one look, at states that are settled
)

// loop runs a poller: in turns, and earlier after events of the system.
type loop struct {
	poller  *poller
	dirs    *dirWatches
	touched map[string]bool // sessions with events since the last look; true: of the directory itself
}

func newLoop(p *poller) *loop {
	return &loop{poller: p, dirs: p.dirs, touched: map[string]bool{}}
}

// run polls until stop is closed.
func (l *loop) run(stop <-chan struct{}) {
	var events <-chan Event
	if l.dirs.events != nil {
		events = l.dirs.events.Events()
	}
	step, delay := time.NewTicker(pollStep), time.NewTimer(eventDelay)
	defer step.Stop()
	defer delay.Stop()
	for {
		select {
		case <-stop:
			return
		case e, open := <-events:
			if !open {
				events = nil
				continue
			}
			idle := len(l.touched) == 0
			l.onEvent(e)
			if idle && len(l.touched) > 0 {
				delay.Reset(eventDelay)
			}
		case <-delay.C:
			l.pollTouched()
		case <-step.C:
			l.poller.pollTop()
			l.poller.pollDue(time.Now())
		}
	}
}

// onEvent notes the session of the event e.
func (l *loop) onEvent(e Event) {
	top, dir := l.dirs.top, filepath.Dir(e.Path)
	switch {
	case e.Path == "": // also the end of a watch may be lost
		l.poller.emit(Change{Op: Rescan})
		l.poller.top = seen{}
	case e.Path == top: // gone perhaps, and with it its watch
		l.poller.top = seen{}
	case dir == top:
		if id := filepath.Base(e.Path); !strings.HasPrefix(id, ".") {
			l.touched[id] = true
		}
	case filepath.Dir(dir) == top:
		id := filepath.Base(dir)
		if _, touched := l.touched[id]; !touched {
			l.touched[id] = false
		}
	}
}

// pollTouched polls the sessions that events were about. A directory that was
// itself touched may be another one now, which has no watch yet.
func (l *loop) pollTouched() {
	for id, itself := range l.touched {
		if itself {
			l.dirs.unwatch(id)
		}
		l.poller.poll(id, allFiles)
	}
	clear(l.touched)
}
