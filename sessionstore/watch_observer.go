package sessionstore

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/notify"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

const (
	turnPeriod = 1500 * time.Millisecond // between two looks at a session: two seconds, less what a busy machine may add
	turnStep   = 100 * time.Millisecond  // between two rounds of looks
	listPeriod = 500 * time.Millisecond  // between two looks at the sessions directory
	eventDelay = 30 * time.Millisecond   // from an event to the look: many events are one look, at stamps that are settled
	maxNotify  = 256                     // sessions with a watch of the system's
)

// observer finds what changes in a sessions directory. What counts are the
// stamps of the files, which it looks at in turns; the system's events only
// make it look earlier. One goroutine at a time uses it.
type observer struct {
	base   *sessiondir.Base
	log    *slog.Logger
	events *notify.Watcher // nil: polling alone
	tell   func(Change)

	top      seen // the sessions directory
	sessions map[string]*watchedSession
	turns    *turns
	hot      *hotSet         // sessions whose directory events watches
	hinted   map[string]bool // sessions with events since the last look; true: of the directory itself
	full     bool            // the system refused a watch, which was logged
	unlisted bool            // the sessions directory could not be read, which was logged
}

func newObserver(base *sessiondir.Base, log *slog.Logger, events *notify.Watcher, tell func(Change)) *observer {
	return &observer{
		base: base, log: log, events: events, tell: tell,
		sessions: map[string]*watchedSession{},
		turns:    newTurns(turnPeriod, time.Now()),
		hot:      newHotSet(maxNotify),
		hinted:   map[string]bool{},
	}
}

// begin takes in everything that is there; it tells all of it.
func (o *observer) begin(ctx context.Context) error {
	o.top = o.stat(o.base.Path())
	o.rewatch()
	all, err := o.base.Entries(func(string) bool { return true })
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b sessiondir.Entry) int { return a.Modified.Compare(b.Modified) })
	for i, e := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i < len(all)-maxNotify {
			o.look(e.Name)
		} else {
			o.visit(e.Name)
		}
	}
	return nil
}

func (o *observer) close() error {
	if o.events == nil {
		return nil
	}
	return o.events.Close()
}

// run observes until stop is closed.
func (o *observer) run(stop <-chan struct{}) {
	var events <-chan notify.Event
	if o.events != nil {
		events = o.events.Events()
	}
	step, list, follow := time.NewTicker(turnStep), time.NewTicker(listPeriod), time.NewTimer(eventDelay)
	defer step.Stop()
	defer list.Stop()
	defer follow.Stop()
	for {
		select {
		case <-stop:
			return
		case e, open := <-events:
			if !open {
				events = nil
				continue
			}
			idle := len(o.hinted) == 0
			o.hear(e)
			if idle && len(o.hinted) > 0 {
				follow.Reset(eventDelay)
			}
		case <-follow.C:
			o.follow()
		case <-list.C:
			o.lookTop()
		case <-step.C:
			for _, id := range o.turns.due(time.Now()) {
				o.visit(id)
			}
		}
	}
}

// hear notes what the event e is about.
func (o *observer) hear(e notify.Event) {
	top, dir := o.base.Path(), filepath.Dir(e.Path)
	switch {
	case e.Path == "":
		o.tell(Change{Op: Rescan})
	case e.Path == top: // gone perhaps, and with it its watch
		o.top = seen{}
	case dir == top:
		if id := filepath.Base(e.Path); !strings.HasPrefix(id, ".") {
			o.hinted[id] = true
		}
	case filepath.Dir(dir) == top:
		id := filepath.Base(dir)
		if _, hinted := o.hinted[id]; !hinted {
			o.hinted[id] = false
		}
	}
}

// follow looks at the sessions that events were about. A directory that was
// itself touched may be another one now, which has no watch yet.
func (o *observer) follow() {
	for id, itself := range o.hinted {
		if itself && o.cool(id) {
			o.warm(id)
		}
		o.visit(id)
	}
	clear(o.hinted)
}

// lookTop looks at the sessions directory.
func (o *observer) lookTop() {
	before, now := o.top.stamp, o.stat(o.base.Path())
	if !o.top.update(now.stamp, now.settled) {
		return
	}
	if !now.stamp.SameAs(before) {
		o.rewatch()
		if before.Exists() && now.stamp.Exists() {
			o.tell(Change{Op: Rescan})
		}
	}
	err := o.list()
	if err != nil {
		o.top.settled = false // so that the next look lists again
		if !o.unlisted {
			o.log.Warn("sessions directory not listed", "err", err)
		}
	}
	o.unlisted = err != nil
}

// list finds the sessions that are new and those that are gone.
func (o *observer) list() error {
	there := make(map[string]struct{}, len(o.sessions))
	found, err := o.base.Entries(func(name string) bool {
		there[name] = struct{}{}
		return o.sessions[name] == nil
	})
	if err != nil {
		return err
	}
	for _, e := range found {
		o.visit(e.Name)
	}
	for id := range o.sessions {
		if _, ok := there[id]; !ok {
			o.look(id)
		}
	}
	return nil
}
