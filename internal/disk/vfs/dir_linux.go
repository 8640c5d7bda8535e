package vfs

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func (d *Dir) exchange(a, b string) error { return d.rename(a, b, unix.RENAME_EXCHANGE) }

func (d *Dir) renameNew(name, to string) error { return d.rename(name, to, unix.RENAME_NOREPLACE) }

func (d *Dir) rename(a, b string, flag uint) error {
	self, err := d.Handle()
	if err != nil {
		return err
	}
	return WithFd(self, func(fd int) error { return unix.Renameat2(fd, a, fd, b, flag) })
}

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
	err = WithFd(self, func(fd int) error { return unix.UtimesNanoAt(fd, name, times, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return d.root.Chtimes(name, time.Time{}, at)
	}
	return nil
}

// beginSync lets the system begin to write n bytes of f from off on to the disk, without
// waiting for them: the later sync has less to do. The sync returns the errors.
func beginSync(f *os.File, off, n int64) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { _ = unix.SyncFileRange(int(fd), off, n, unix.SYNC_FILE_RANGE_WRITE) })
}
