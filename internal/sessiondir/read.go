package sessiondir

import (
	"time"

	"github.com/amplifier-go/sessionstorage/internal/dirread"
)

// Entry is the directory of a session as a listing finds it.
type Entry = dirread.Entry

// Settled reports whether a change of the file after the stamp s was taken, at
// the time at, is sure to show in a later stamp; see [dirread.Settled].
func (b *Base) Settled(s Stamp, at time.Time) bool { return dirread.Settled(b.seam, s, at) }

// Entries returns the sessions; see [dirread.Sessions.Entries].
func (b *Base) Entries(keep func(name string) bool) ([]Entry, error) { return b.reader.Entries(keep) }

// EntriesAndLost returns the sessions, and symlinks that lead to none; see
// [dirread.Sessions.EntriesAndLost].
func (b *Base) EntriesAndLost(keep func(name string) bool) ([]Entry, error) {
	return b.reader.EntriesAndLost(keep)
}

// Stat returns the stamp of a file of a session, or of its directory; see
// [dirread.Sessions.Stat].
func (b *Base) Stat(id, name string) (is Stamp, regular bool, err error) {
	return b.reader.Stat(id, name)
}

// StatMany returns what is Stat for many files; see [dirread.Sessions.StatMany].
func (b *Base) StatMany() (stat func(id, name string) (is Stamp, regular bool, err error), err error) {
	return b.reader.StatMany()
}

// IsLocal reports whether the times of directories can be relied on; see
// [dirread.Sessions.IsLocal].
func (b *Base) IsLocal() bool { return b.reader.IsLocal() }

// ReadFast reads a file of a session; see [dirread.Sessions.ReadFast].
func (b *Base) ReadFast(id, name string) (data []byte, ok bool) { return b.reader.ReadFast(id, name) }

// ReadStamped reads a file of a session; see [dirread.Sessions.ReadStamped].
func (b *Base) ReadStamped(id, name string) (data []byte, now Stamp, ok bool) {
	return b.reader.ReadStamped(id, name)
}

// View looks at a file of a session; see [dirread.Sessions.View].
func (b *Base) View(id, name string, look func(data []byte, is Stamp)) (ok bool) {
	return b.reader.View(id, name, look)
}
