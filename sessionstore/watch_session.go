package sessionstore

import (
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/notify"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// watchedFiles are the files of a session whose changes are told. Further
// files belong here only if they are never written as often as they are read.
var watchedFiles = [...]string{
	sessiondir.Transcript,
	sessiondir.Metadata,
	"events.jsonl",
	sessiondir.Config,
	"phase_outputs.jsonl",
	"session_conversation.jsonl",
}

const sep = string(filepath.Separator)

// seen is what was last seen of a file or directory.
type seen struct {
	stamp   notify.Stamp
	settled bool // any later change shows in the stamp
}

// update notes what is there now and reports whether it may have changed. A
// stamp that was not settled does not tell a second change within the same
// step of the clock: it counts as changed once more when that step is over.
func (s *seen) update(now notify.Stamp, settled bool) bool {
	may := now != s.stamp || now.Exists() && settled && !s.settled
	*s = seen{now, settled}
	return may
}

// watchedSession is what was last seen of a session.
type watchedSession struct {
	dir     seen
	files   [len(watchedFiles)]seen
	pending bool // the append marker was there
}

// look looks at the session id in the directory path and returns what changed
// in its files. dir is the state of the directory, taken before. stat tells
// the state of a file. In a directory that did not change no file was made or
// removed: only those that were there are looked at.
func (s *watchedSession) look(id, path string, dir seen, stat func(path string) seen) (found []Change) {
	anywhere := s.dir.update(dir.stamp, dir.settled)
	for i, name := range watchedFiles {
		if !anywhere && !s.files[i].stamp.Exists() {
			continue
		}
		now := stat(path + sep + name)
		switch {
		case !s.files[i].update(now.stamp, now.settled):
		case now.stamp.Exists():
			found = append(found, Change{ID: id, File: name, Op: Wrote})
		default:
			found = append(found, Change{ID: id, File: name, Op: Removed})
		}
	}
	if !anywhere {
		return found
	}
	if pending := stat(path + sep + sessiondir.Marker).stamp.Exists(); pending != s.pending {
		s.pending = pending
		found = append(found, Change{ID: id, File: sessiondir.Transcript, Op: Wrote})
	}
	return found
}
