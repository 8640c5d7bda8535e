package watch

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/vfs"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Files are the files of a session whose changes are told. Further
// files belong here only if they are never written as often as they are read.
var Files = [...]string{
	sessiondir.Transcript,
	sessiondir.Metadata,
	sessiondir.Events,
	sessiondir.Config,
	sessiondir.Phases,
	sessiondir.Conversation,
}

// seen is what was last seen of a file or directory.
type seen struct {
	state   state
	settled bool // any later change shows in the state
}

// update notes what is there now and reports whether it may have changed. A
// state that was not settled does not tell a second change within the same
// step of the clock: it counts as changed once more when that step is over.
func (s *seen) update(now state, settled bool) bool {
	may := now != s.state || now.exists() && settled && !s.settled
	*s = seen{now, settled}
	return may
}

// session is what was last seen of a session.
type session struct {
	dir     seen
	files   [len(Files)]seen
	pending bool // the append marker was there
	looks   int  // since the directory changed
	rest    int  // turns until the next look, as long as its directory is watched
}

// The time of a directory may change a while before its new file can be seen: the file
// system may wait for its disk in between. So some looks at a directory that did not
// change are at every file, too.
const (
	firstLooks = 2  // looks after a change that are
	rareLook   = 16 // one look in so many is, from then on
)

// told reports whether events of the directory path tell every later change of its
// files. What another machine writes, or what is written by another name of a file, has none.
func (s *session) told(path string) bool {
	untold := func(f seen) bool { return !f.settled || f.state.linked }
	return !untold(s.dir) && !slices.ContainsFunc(s.files[:], untold) && vfs.IsLocalAt(path)
}

// scope says which files of a session are looked at.
type scope int

const (
	dueFiles scope = iota // those that were there; all after a change of the directory, and now and then
	allFiles
)

// compare looks at the session id in the directory path and returns what changed
// in its files. dir is the state of the directory, taken before. stat tells
// the state of a file. A directory that did not change has hardly ever a new file, so
// most looks at the dueFiles leave out those that were not there.
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
