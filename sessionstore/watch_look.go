package sessionstore

import (
	"errors"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/notify"
)

// visit looks at a session and, if it changed, has its directory watched.
func (o *observer) visit(id string) {
	if o.look(id) && o.warm(id) {
		o.look(id) // at what happened before the watch was in place
	}
}

// look tells what changed in a session and reports whether anything did and
// the session is there.
func (o *observer) look(id string) (changed bool) {
	path := o.path(id)
	dir, s := o.stat(path), o.sessions[id]
	switch {
	case dir.stamp.Hidden():
		return false
	case !dir.stamp.IsDir():
		if s != nil {
			o.forget(id)
		}
		return false
	case s == nil:
		s = &watchedSession{}
		o.sessions[id] = s
		o.turns.add(id, time.Now())
		changed = true
	case !dir.stamp.SameAs(s.dir.stamp):
		o.cool(id)
		changed = true
	}
	if changed {
		o.tell(Change{ID: id, Op: Wrote})
	}
	for _, c := range s.look(id, path, dir, o.stat) {
		o.tell(c)
		changed = true
	}
	return changed
}

func (o *observer) forget(id string) {
	o.cool(id)
	delete(o.sessions, id)
	o.turns.remove(id)
	o.tell(Change{ID: id, Op: Removed})
}

// warm has the directory of a session that changed watched by the system, and
// reports whether that is new. The one that changed longest ago makes room.
func (o *observer) warm(id string) bool {
	if o.events == nil {
		return false
	}
	added, out := o.hot.touch(id)
	if out != "" {
		o.events.Remove(o.path(out))
	}
	if !added {
		return false
	}
	err := o.events.Add(o.path(id))
	if err == nil {
		return true
	}
	o.hot.remove(id)
	if !o.full && !errors.Is(err, fs.ErrNotExist) {
		o.full = true
		o.log.Warn("session not watched, polled alone", "session", id, "err", err)
	}
	return false
}

// cool ends what warm began and reports whether there was something to end.
func (o *observer) cool(id string) bool {
	if !o.hot.remove(id) {
		return false
	}
	o.events.Remove(o.path(id))
	return true
}

// rewatch has the directory watched that is the sessions directory now.
func (o *observer) rewatch() {
	if o.events == nil {
		return
	}
	o.events.Remove(o.base.Path())
	if err := o.events.Add(o.base.Path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.log.Warn("sessions directory not watched, polled alone", "err", err)
	}
}

func (o *observer) path(id string) string {
	return o.base.Path() + sep + id
}

// stat returns what is at path. The time is taken before: what changes later
// than that is what must show.
func (o *observer) stat(path string) seen {
	at := time.Now()
	now := notify.Stat(path)
	return seen{now, now.Settled(at)}
}
