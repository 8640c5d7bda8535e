package watch

import (
	"container/list"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// pollPeriod is between two looks at a session: two seconds, less what a busy
// machine may add.
const pollPeriod = 1500 * time.Millisecond

// restTurns is the number of turns, about a minute, that a session is skipped if its
// changes have events. A later look finds the changes without an event, such as writes
// through a memory mapping.
const restTurns = int(time.Minute / pollPeriod)

// poller finds what changes in a sessions directory by the states of its
// files. One goroutine at a time uses it.
type poller struct {
	base *sessiondir.Base
	log  *slog.Logger
	dirs *dirWatches
	emit func(Change)

	top      seen // the sessions directory
	sessions map[string]*session
	schedule *schedule
	unlisted bool // the sessions directory could not be read, which was logged
}

func newPoller(base *sessiondir.Base, log *slog.Logger, dirs *dirWatches, emit func(Change)) *poller {
	return &poller{
		base: base, log: log, dirs: dirs, emit: emit,
		sessions: map[string]*session{},
		schedule: newSchedule(pollPeriod, time.Now()),
	}
}

// begin reads everything in the sessions directory, and emits it all.
func (p *poller) begin(ctx context.Context) error {
	p.top = stat(p.base.Path())
	p.dirs.rewatch()
	all, err := p.entries(func(string) bool { return true })
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b sessiondir.Entry) int { return a.Modified.Compare(b.Modified) })
	for i, e := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i < len(all)-p.dirs.recent.limit {
			p.compare(e.Name, dueFiles)
			continue
		}
		p.dirs.watch(e.Name, stateAt(p.dirs.path(e.Name)), true) // so that one look is enough
		p.poll(e.Name, dueFiles)
	}
	return nil
}

// poll looks at those files of a session, and has its directory watched if it
// changed or there is room.
func (p *poller) poll(id string, files scope) {
	changed := p.compare(id, files)
	s := p.sessions[id]
	if s == nil {
		return
	}
	if p.dirs.watch(id, s.dir.state, changed) {
		p.compare(id, allFiles) // for changes before the watch was in place
	}
	s.rest = 0
	if s.hasEvents(p.dirs.path(id)) {
		s.rest = restTurns
	}
}

// pollDue polls the sessions whose turn it is.
func (p *poller) pollDue(now time.Time) {
	for _, id := range p.schedule.due(now) {
		if s := p.sessions[id]; s.rest > 0 && p.dirs.watched(id) {
			s.rest--
			continue
		}
		p.poll(id, dueFiles)
	}
}

// compare emits the changes of a session. It reports whether anything changed and the
// session exists.
func (p *poller) compare(id string, files scope) (changed bool) {
	path := p.dirs.path(id)
	dir, s := stat(path), p.sessions[id]
	switch {
	case dir.state.kind == hidden:
		return false
	case dir.state.kind != directory:
		if s != nil {
			p.remove(id)
		}
		return false
	case s == nil:
		s = &session{}
		p.sessions[id] = s
		p.schedule.add(id, time.Now())
		changed = true
	case !dir.state.sameAs(s.dir.state):
		p.dirs.unwatch(id)
		changed = true
	}
	if changed {
		p.emit(Change{ID: id, Op: Wrote})
	}
	for _, c := range s.compare(id, path, dir, files, stat) {
		p.emit(c)
		changed = true
	}
	return changed
}

// remove notes that a session is gone.
func (p *poller) remove(id string) {
	p.dirs.unwatch(id)
	delete(p.sessions, id)
	p.schedule.remove(id)
	p.emit(Change{ID: id, Op: Removed})
}

// pollTop looks at the sessions directory.
func (p *poller) pollTop() {
	before, now := p.top.state, stat(p.base.Path())
	if !p.top.update(now.state, now.settled) {
		return
	}
	if !now.state.sameAs(before) {
		p.dirs.rewatch()
		for id := range p.sessions { // which may have other directories now
			p.dirs.unwatch(id)
		}
		if before.exists() && now.state.exists() {
			p.emit(Change{Op: Rescan})
		}
	}
	err := p.list()
	if err != nil {
		p.top.settled = false // so that the next look lists again
		if !p.unlisted {
			p.log.Warn("sessions directory not listed", "err", err)
		}
	}
	p.unlisted = err != nil
}

// list finds the sessions that are new and those that are gone.
func (p *poller) list() error {
	there := make(map[string]struct{}, len(p.sessions))
	found, err := p.entries(func(name string) bool {
		there[name] = struct{}{}
		return p.sessions[name] == nil
	})
	if err != nil {
		return err
	}
	for _, e := range found {
		p.poll(e.Name, dueFiles)
	}
	for id := range p.sessions {
		if _, ok := there[id]; !ok {
			p.compare(id, dueFiles)
		}
	}
	return nil
}

// entries returns the sessions. If the sessions directory is gone it returns none: the
// directory may come back.
func (p *poller) entries(keep func(name string) bool) ([]sessiondir.Entry, error) {
	found, err := p.base.Entries(keep)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return found, err
}

// stat returns the state of path. The time is taken before: all changes after that time
// must show.
func stat(path string) seen {
	at := time.Now()
	now := stateAt(path)
	return seen{now, now.settled(at)}
}

// seen is the last seen state of a file or directory.
type seen struct {
	state   state
	settled bool // any later change shows in the state
}

// update sets the present state and reports whether the file may have changed. A state
// that was not settled does not show a second change within the same step of the clock,
// so it counts as changed once more when that step is over.
func (s *seen) update(now state, settled bool) bool {
	may := now != s.state || now.exists() && settled && !s.settled
	*s = seen{now, settled}
	return may
}

// session is the last seen state of a session.
type session struct {
	dir     seen
	files   [len(Files)]seen
	pending bool // the append marker was there
	looks   int  // since the directory changed
	rest    int  // turns until the next look, as long as its directory is watched
}

// The time of a directory may change a while before its new file can be seen: the file
// system may wait for its disk in between. So some looks at a directory that did not
// change cover every file, too.
const (
	firstLooks = 2  // looks after a change that are
	rareLook   = 16 // one look in so many is, from then on
)

// hasEvents reports whether there is an event for every later change of the files in the
// directory path. Writes by another machine, or through another name of a file, have
// none.
func (s *session) hasEvents(path string) bool {
	polled := func(f seen) bool { return !f.settled || f.state.linked }
	return !polled(s.dir) && !slices.ContainsFunc(s.files[:], polled) && vfs.IsLocalAt(path)
}

// scope selects the files of a session to compare.
type scope int

const (
	dueFiles scope = iota // the files that existed; all files after a change of the directory, and now and then
	allFiles
)

// compare compares the session id in the directory path with its last state, and returns
// the changes of its files. dir is the state of the directory, taken before. stat returns
// the state of a file. A directory that did not change has hardly ever a new file, so
// most comparisons of dueFiles leave out the files that did not exist.
func (s *session) compare(id, path string, dir seen, files scope, stat func(path string) seen) (found []Change) {
	s.looks++
	if s.dir.update(dir.state, dir.settled) {
		s.looks = 0
	}
	every := files == allFiles || s.looks <= firstLooks || s.looks%rareLook == 0
	for i, name := range Files {
		if !every && s.files[i].state == (state{}) {
			continue
		}
		now := stat(path + sep + name)
		switch {
		case !s.files[i].update(now.state, now.settled):
		case now.state.exists():
			found = append(found, Change{ID: id, File: name, Op: Wrote})
		default:
			found = append(found, Change{ID: id, File: name, Op: Removed})
		}
	}
	if !every {
		return found
	}
	if pending := stat(path + sep + sessiondir.Marker).state.exists(); pending != s.pending {
		s.pending = pending
		found = append(found, Change{ID: id, File: sessiondir.Transcript, Op: Wrote})
	}
	return found
}

// schedule decides which sessions to poll, so that the work is spread evenly and each
// session has a turn once in a period.
type schedule struct {
	period time.Duration
	last   time.Time // of the call of due before
	queue  list.List // of *turn, the least recently polled first
	at     map[string]*list.Element
}

type turn struct {
	id   string
	last time.Time
}

func newSchedule(period time.Duration, now time.Time) *schedule {
	return &schedule{period: period, last: now, at: map[string]*list.Element{}}
}

// add adds a session that was polled now.
func (s *schedule) add(id string, now time.Time) {
	if s.at[id] == nil {
		s.at[id] = s.queue.PushBack(&turn{id, now})
	}
}

func (s *schedule) remove(id string) {
	if e := s.at[id]; e != nil {
		s.queue.Remove(e)
		delete(s.at, id)
	}
}

// due returns the sessions to poll now: their share for the time since the call before,
// and all whose last turn was a period ago.
func (s *schedule) due(now time.Time) []string {
	n := s.queue.Len()
	share := n
	if passed := now.Sub(s.last); passed < s.period {
		share = int((int64(n)*int64(passed) + int64(s.period) - 1) / int64(s.period))
	}
	s.last = now
	var ids []string
	for range n {
		e := s.queue.Front()
		next := e.Value.(*turn)
		if len(ids) >= share && now.Sub(next.last) < s.period {
			break
		}
		next.last = now
		s.queue.MoveToBack(e)
		ids = append(ids, next.id)
	}
	return ids
}

// state is the state of a path. Two equal states mean that nothing changed, unless it
// changed within one step of the file system's clock. The zero state means that the path
// does not exist.
type state struct {
	kind   kind
	linked bool      // a symlink leads there, or the file has further hard links: it may change without an event
	stamp  vfs.Stamp // on Windows with the time of creation as the inode
}

type kind uint8

const (
	absent kind = iota
	file
	directory
	hidden // the system does not report the state, as when permissions are missing
)

// exists reports whether the path exists, even if it is out of reach.
func (s state) exists() bool { return s.kind != absent }

// id returns the identity of the file or directory on this machine.
func (s state) id() [2]uint64 { return [2]uint64{s.stamp.Dev, s.stamp.Inode} }

// sameAs reports whether both states are of one file or directory, changed or not.
func (s state) sameAs(t state) bool { return s.kind == t.kind && s.id() == t.id() }

// stateAt returns the state of path. It follows symlinks and opens nothing else.
func stateAt(path string) state {
	fi, err := os.Lstat(path)
	link := err == nil && fi.Mode()&fs.ModeSymlink != 0
	if link {
		fi, err = os.Stat(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return state{linked: link}
	case err != nil:
		return state{kind: hidden, linked: link}
	case fi.IsDir():
		return state{directory, link, stampOf(fi)}
	}
	return state{file, link || vfs.Links(fi) > 1, stampOf(fi)}
}

// settled reports whether every change after the time at, when the state was taken, shows
// in a later state.
func (s state) settled(at time.Time) bool {
	return s.stamp == (vfs.Stamp{}) || vfs.Settled(nil, s.stamp, at)
}
