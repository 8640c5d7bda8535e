package atomicfile

import (
	"time"

	"github.com/amplifier-go/sessionstorage/internal/seam"
)

// Now returns the time, but a later one than after. The clock of a file
// system, which is coarser, hardly ever gives that time to another change.
func Now(after time.Time) time.Time {
	now := time.Now()
	if !now.After(after) {
		return after.Add(time.Microsecond)
	}
	return now
}

// SetTime sets the time of the last change of the file name.
func (d *Dir) SetTime(name string, at time.Time) error {
	op := d.op(seam.Chtimes, name, "")
	op.Time = at
	return d.change(op, func() error { return d.setTime(name, at) })
}
