package dirread

import (
	"time"

	"github.com/amplifier-go/sessionstorage/internal/seam"
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
// made anew may look the same. hooks may be nil.
func Settled(hooks *seam.Seam, s Stamp, at time.Time) bool {
	step := coarseStep
	switch {
	case hooks != nil && hooks.Clock > 0:
		step = hooks.Clock
	case s.Mtime.Nanosecond() != 0 || s.Ctime.Nanosecond() != 0:
		step = fineStep
	}
	last := s.Mtime
	if s.Ctime.After(last) {
		last = s.Ctime
	}
	return at.Sub(last) > step
}
