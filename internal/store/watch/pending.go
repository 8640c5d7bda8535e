package watch

import (
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// Change is a change of a session.
type Change struct {
	ID   string
	File string // base name of the changed file; empty: the whole session
	Op   Op
}

// Op is the kind of a [Change].
type Op int

// The kinds of changes. The numbers are the same as in package sessionstore.
const (
	Wrote Op = iota
	Removed
	Rescan // changes may have been missed: read everything again
)

// maxPending is the most changes that wait for a consumer. Beyond it, reading everything
// again is less work than going through them.
const maxPending = 4096

// pending holds the changes that were not taken yet, the latest of each
// file and of each session as a whole. The zero value is empty.
type pending struct {
	order  []changeKey // the first seen first; changes that were dropped or seen again are still in it
	ops    map[changeKey]Op
	rescan bool // all that matters
}

// changeKey is the session and the file of a change.
type changeKey struct{ id, file string }

// add adds c. A removed session's files matter no more, and with a [Rescan]
// nothing else does.
func (s *pending) add(c Change) {
	if s.rescan {
		return
	}
	if c.Op == Rescan {
		*s = pending{rescan: true}
		return
	}
	if c.Op == Removed && c.File == "" {
		for _, name := range Files {
			delete(s.ops, changeKey{c.ID, name})
		}
	}
	key := changeKey{c.ID, c.File}
	if _, waiting := s.ops[key]; !waiting {
		if len(s.order) == maxPending {
			*s = pending{rescan: true}
			return
		}
		s.order = append(s.order, key)
	}
	if s.ops == nil {
		s.ops = map[changeKey]Op{}
	}
	s.ops[key] = c.Op
}

// has reports whether a change of the same file or session as c has not been taken yet.
func (s *pending) has(c Change) bool {
	if c.Op == Rescan {
		return s.rescan
	}
	_, waiting := s.ops[changeKey{c.ID, c.File}]
	return waiting
}

// take removes the change that has waited longest and returns it.
func (s *pending) take() (Change, bool) {
	if s.rescan {
		s.rescan = false
		return Change{Op: Rescan}, true
	}
	for len(s.order) > 0 {
		key := s.order[0]
		s.order = s.order[1:]
		if op, waiting := s.ops[key]; waiting {
			delete(s.ops, key)
			return Change{ID: key.id, File: key.file, Op: op}, true
		}
	}
	*s = pending{}
	return Change{}, false
}

// Files are the files of a session whose changes are reported. A file belongs here only
// if it is written less often than it is read.
var Files = [...]string{
	sessiondir.Transcript,
	sessiondir.Metadata,
	sessiondir.Events,
	sessiondir.Config,
	sessiondir.Phases,
	sessiondir.Conversation,
}
