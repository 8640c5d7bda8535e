package sessiondir

import (
	"time"

	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// Entry is the directory of a session as a listing finds it.
type Entry = vfs.Entry

// Settled reports whether a change of the file after the stamp s was taken, at
// the time at, is sure to show in a later stamp; see [vfs.Settled].
func (b *Base) Settled(s Stamp, at time.Time) bool { return vfs.Settled(b.seam, s, at) }
