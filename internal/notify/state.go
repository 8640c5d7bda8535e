package notify

import "time"

// State is what stands at a path: it tells a file or directory from another, and
// from itself before a change. States can be compared with ==. The zero value says
// that nothing is there.
//
// Two equal states mean that nothing changed, unless it did within one step
// of the file system's clock.
type State struct {
	kind         kind
	linked       bool   // a symlink leads there, or the file has further hard links; false where no watcher hears of anything
	dev, inode   uint64 // on Windows zero, and the time of creation
	size         int64
	mtime, ctime int64 // of the content and of the inode, in nanoseconds; zero where the system does not tell
}

type kind uint8

const (
	absent kind = iota
	file
	directory
	hidden // the system does not tell what is there
)

// Exists reports whether something is there, be it out of reach.
func (s State) Exists() bool { return s.kind != absent }

// Hidden reports whether the system does not tell what is there, as when
// permissions are missing.
func (s State) Hidden() bool { return s.kind == hidden }

// IsDir reports whether it is a directory.
func (s State) IsDir() bool { return s.kind == directory }

// Linked reports whether it may change without an event at its path: it has
// another name, too.
func (s State) Linked() bool { return s.linked }

// ID returns what tells the file or directory from the others of this machine.
func (s State) ID() [2]uint64 { return [2]uint64{s.dev, s.inode} }

// SameAs reports whether both are of one file or directory, changed or not.
func (s State) SameAs(t State) bool {
	return s.kind == t.kind && s.dev == t.dev && s.inode == t.inode
}

// The steps of the clocks by which file systems time changes: of those that
// keep parts of seconds, and of the coarsest.
const (
	fineStep   = 20 * time.Millisecond
	coarseStep = 2 * time.Second
)

// Settled reports whether every change after the state was taken, at the time
// at, shows in a later state. Also where a file's times are told apart by
// finer steps, a file that replaced another within one step may have all that
// the other had, its inode too.
func (s State) Settled(at time.Time) bool {
	if s.kind == absent || s.kind == hidden {
		return true
	}
	last := s.ctime
	if last == 0 {
		last = s.mtime
	}
	step := fineStep
	if last%int64(time.Second) == 0 {
		step = coarseStep
	}
	return at.UnixNano()-last > int64(step)
}
