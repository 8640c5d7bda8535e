package watch

import (
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/notify"
)

// maxDirs is how many sessions' directories the system watches at once.
const maxDirs = 256

const sep = string(filepath.Separator)

// dirWatches are the directories that the system watches: the sessions
// directory, and those of the sessions that changed last. Without events it
// watches none.
type dirWatches struct {
	top    string // path of the sessions directory
	log    *slog.Logger
	events *notify.Watcher // nil: polling alone
	recent *recentSet      // sessions whose directory events watches
	full   bool            // the system refused a watch, which was logged
}

func newDirWatches(top string, log *slog.Logger, events *notify.Watcher) *dirWatches {
	return &dirWatches{top: top, log: log, events: events, recent: newRecentSet(maxDirs)}
}

func (d *dirWatches) path(id string) string { return d.top + sep + id }

// watch has the system watch the directory of a session that changed, and
// reports whether that is new. The session that changed longest ago makes room.
func (d *dirWatches) watch(id string) bool {
	if d.events == nil {
		return false
	}
	added, out := d.recent.use(id)
	if out != "" {
		d.events.Remove(d.path(out))
	}
	if !added {
		return false
	}
	err := d.events.Add(d.path(id))
	if err == nil {
		return true
	}
	d.recent.remove(id)
	if !d.full && !errors.Is(err, fs.ErrNotExist) {
		d.full = true
		d.log.Warn("session not watched, polled alone", "session", id, "err", err)
	}
	return false
}

// unwatch ends what watch began and reports whether there was something to end.
func (d *dirWatches) unwatch(id string) bool {
	if !d.recent.remove(id) {
		return false
	}
	d.events.Remove(d.path(id))
	return true
}

// rewatch has the system watch the directory that is the sessions directory now.
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
