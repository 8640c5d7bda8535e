package sessiondir

import (
	"time"

	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// The steps of the clocks by which file systems time changes: of those that
// keep parts of seconds, and of the coarsest.
const (
	fineStep   = 20 * time.Millisecond
	coarseStep = 2 * time.Second
)

// Settled reports whether a change of the file after the stamp s was taken,
// at the time at, is sure to show in a later stamp. It is not when the file
// had changed within the same step of the file system's clock. Kernels that
// time changes more finely do so for one inode only: a file that is removed and
// made anew may look the same.
func (b *Base) Settled(s Stamp, at time.Time) bool { return settled(b.seam, s, at) }

func settled(seam *fault.Seam, s Stamp, at time.Time) bool {
	step := coarseStep
	switch {
	case seam != nil && seam.Clock > 0:
		step = seam.Clock
	case s.Mtime.Nanosecond() != 0 || s.Ctime.Nanosecond() != 0:
		step = fineStep
	}
	last := s.Mtime
	if s.Ctime.After(last) {
		last = s.Ctime
	}
	return at.Sub(last) > step
}
