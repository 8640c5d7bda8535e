package watch

import (
	"container/list"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// maxDirs is the most sessions' directories that the system watches at once, if that is
// no more than a quarter of its limit for a user. It keeps about 1 KB for each.
const maxDirs = 12_000

const sep = string(filepath.Separator)

// dirWatches are the directories that the system watches: the sessions directory, and the
// directories of the sessions, or of the last changed ones where there are too many.
// Without events it watches none.
type dirWatches struct {
	top    string // path of the sessions directory
	log    *slog.Logger
	events *Notifier            // nil: polling alone
	recent *recentSet           // sessions whose directory events watches
	dirs   map[string][2]uint64 // the directories of these sessions
	owners map[[2]uint64]string // and back
	warned bool                 // that the system refused a watch
}

func newDirWatches(top string, log *slog.Logger, events *Notifier) *dirWatches {
	room := 0
	if events != nil {
		text, _ := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
		granted, _ := strconv.Atoi(strings.TrimSpace(string(text))) // 0 where the system does not report it
		room = min(granted/4, maxDirs)
	}
	return &dirWatches{
		top: top, log: log, events: events, recent: newRecentSet(room),
		dirs: map[string][2]uint64{}, owners: map[[2]uint64]string{},
	}
}

func (d *dirWatches) path(id string) string { return d.top + sep + id }

// watched reports whether the system watches the directory of a session.
func (d *dirWatches) watched(id string) bool {
	_, ok := d.dirs[id]
	return ok
}

// watch has the system watch the directory of a session, which is dir, and reports
// whether that is new. For a session that changed, the least recently changed one makes
// room. A directory that is watched by another name, such as a directory that was just
// renamed, has to wait until the poller finds that name gone.
func (d *dirWatches) watch(id string, dir state, changed bool) bool {
	owner, owned := d.owners[dir.id()]
	if owned && owner != id || d.recent.limit == 0 || !changed && (d.watched(id) || len(d.dirs) == d.recent.limit) {
		return false
	}
	added, out := d.recent.use(id)
	d.unwatch(out)
	if !added {
		return false
	}
	err := d.events.Add(d.path(id))
	if err == nil {
		d.dirs[id], d.owners[dir.id()] = dir.id(), id
		return true
	}
	d.recent.remove(id)
	if errors.Is(err, syscall.ENOSPC) {
		d.recent.limit = len(d.dirs)
	}
	if !d.warned && !errors.Is(err, fs.ErrNotExist) {
		d.warned = true
		d.log.Warn("session not watched, polled alone", "session", id, "err", err)
	}
	return false
}

// unwatch ends the watch of the directory of a session, if there is one.
func (d *dirWatches) unwatch(id string) {
	if !d.watched(id) {
		return
	}
	d.recent.remove(id)
	d.events.Remove(d.path(id))
	delete(d.owners, d.dirs[id])
	delete(d.dirs, id)
}

// rewatch has the system watch the present sessions directory.
func (d *dirWatches) rewatch() {
	if d.events == nil {
		return
	}
	d.events.Remove(d.top)
	if err := d.events.Add(d.top); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.Warn("sessions directory not watched, polled alone", "err", err)
	}
}

func (d *dirWatches) close() error {
	if d.events == nil {
		return nil
	}
	return d.events.Close()
}

// recentSet holds the ids that were used last, no more than limit.
type recentSet struct {
	limit int
	order list.List // of string, the last used in front
	at    map[string]*list.Element
}

func newRecentSet(limit int) *recentSet {
	return &recentSet{limit: limit, at: map[string]*list.Element{}}
}

// use makes id the last used one. added reports whether it was not in the set; out is the
// id that was removed for it, or "".
func (r *recentSet) use(id string) (added bool, out string) {
	if e, ok := r.at[id]; ok {
		r.order.MoveToFront(e)
		return false, ""
	}
	if r.order.Len() == r.limit {
		out = r.order.Back().Value.(string)
		r.remove(out)
	}
	r.at[id] = r.order.PushFront(id)
	return true, out
}

// remove takes id out of the set and reports whether it was in it.
func (r *recentSet) remove(id string) bool {
	e, ok := r.at[id]
	if ok {
		r.order.Remove(e)
		delete(r.at, id)
	}
	return ok
}
