package atomicfile

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/dirread"
)

// setTime sets the time of the last change of name, which is no symlink.
func (d *Dir) setTime(name string, at time.Time) error {
	if !single(name) {
		return d.root.Chtimes(name, time.Time{}, at)
	}
	self, err := d.Handle()
	if err != nil {
		return err
	}
	spec, err := unix.TimeToTimespec(at)
	if err != nil {
		return d.root.Chtimes(name, time.Time{}, at)
	}
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, spec}
	err = dirread.WithFd(self, func(fd int) error { return unix.UtimesNanoAt(fd, name, times, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return d.root.Chtimes(name, time.Time{}, at)
	}
	return nil
}
