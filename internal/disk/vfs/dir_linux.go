package vfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// The ways to rename that [Dir.rename] knows.
const (
	exchanging = unix.RENAME_EXCHANGE
	toNew      = unix.RENAME_NOREPLACE // the new name must be free
)

// rename gives the file a the name b in one of the ways above.
func (d *Dir) rename(a, b string, way uint) error {
	self, err := d.Handle()
	if err != nil {
		return err
	}
	return WithFd(self, func(fd int) error { return unix.Renameat2(fd, a, fd, b, way) })
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

// LargeFile is the flag by which a program of 32 bits opens files of 2 GiB and more.
// [os.Root] leaves it to its callers.
const LargeFile = syscall.O_LARGEFILE

// uninterrupted repeats a call for as long as signals interrupt it.
func uninterrupted(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// identify returns the identity of a file, and the time of the last change of its inode,
// as far as the system reports them.
func identify(fi fs.FileInfo) (dev, inode uint64, ctime time.Time) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		dev, inode = uint64(st.Dev), st.Ino
		ctime = time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)) // narrower on 32 bit
	}
	return dev, inode, ctime
}

// Stat returns the stamp of the file name, a name in the directory, without following a
// symlink.
func (d *Dir) Stat(name string) (Stamp, error) {
	d.mu.Lock()
	self := d.self
	d.mu.Unlock()
	if self == nil {
		return d.lstat(name)
	}
	var at unix.Stat_t
	err := OnFd(self, func(fd int) error { return unix.Fstatat(fd, name, &at, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return Stamp{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return stampIn(&at, d.seam), nil
}

func stampIn(at *unix.Stat_t, hooks *seam.Seam) Stamp {
	return Stamp{
		Dev: uint64(at.Dev), Inode: at.Ino, Size: at.Size,
		Mtime: hooks.Round(time.Unix(int64(at.Mtim.Sec), int64(at.Mtim.Nsec))), // narrower on 32 bit
		Ctime: hooks.Round(time.Unix(int64(at.Ctim.Sec), int64(at.Ctim.Nsec))),
	}
}

// statPath is [Sessions.Stat] of a path.
func statPath(path string, hooks *seam.Seam) (is Stamp, regular bool, err error) {
	return statFrom(unix.AT_FDCWD, path, hooks)
}

// statIn is [Sessions.Stat] of a path below the directory in.
func statIn(in *os.File, path string, hooks *seam.Seam) (is Stamp, regular bool, err error) {
	err = WithFd(in, func(fd int) error {
		is, regular, err = statFrom(fd, path, hooks)
		return err
	})
	return is, regular, err
}

func statFrom(fd int, path string, hooks *seam.Seam) (is Stamp, regular bool, err error) {
	var at unix.Stat_t
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Fstatat(fd, path, &at, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return Stamp{}, false, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	kind := at.Mode & unix.S_IFMT
	return stampIn(&at, hooks), kind == unix.S_IFREG || kind == unix.S_IFDIR, nil
}

// statEntry returns the stamp of the entry name of the sessions directory in,
// and whether it is a directory; symlinks are followed.
func statEntry(in *os.File, name string) (is Stamp, isDir bool, err error) {
	var at unix.Stat_t
	if err := OnFd(in, func(fd int) error { return unix.Fstatat(fd, name, &at, 0) }); err != nil {
		return is, false, err
	}
	return stampIn(&at, nil), at.Mode&unix.S_IFMT == unix.S_IFDIR, nil
}

// has reports whether path, below the directory in, exists, also as a symlink that leads
// nowhere, or whether that is not known.
func has(in *os.File, path string) bool {
	var st unix.Stat_t
	err := OnFd(in, func(fd int) error { return unix.Fstatat(fd, path, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return !errors.Is(err, fs.ErrNotExist)
}

// IsLocal reports whether an open file or directory is on one of the local file systems
// that are known to behave: every change of a file or directory changes its time, and the
// kernel knows every program that has one of its files open. Others are on other
// machines, or keep no times of directories at all.
func IsLocal(f *os.File) bool {
	var on unix.Statfs_t
	err := OnFd(f, func(fd int) error { return unix.Fstatfs(fd, &on) })
	return err == nil && isLocalType(int64(on.Type))
}

// IsLocalAt is [IsLocal] for path, which it does not open.
func IsLocalAt(path string) bool {
	var on unix.Statfs_t
	_, err := uninterrupted(func() (int, error) { return 0, unix.Statfs(path, &on) })
	return err == nil && isLocalType(int64(on.Type))
}

func isLocal(fd int) bool {
	var on unix.Statfs_t
	_, err := uninterrupted(func() (int, error) { return 0, unix.Fstatfs(fd, &on) })
	return err == nil && isLocalType(int64(on.Type))
}

func isLocalType(magic int64) bool {
	switch magic {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return true
	}
	return false
}

// takeLease takes a write lease. The system reports a waiting program by a signal, by
// default SIGIO, which ends a process that does not expect it. So the signal is set to
// SIGURG first, which every process ignores by default, and which the Go runtime sends
// itself all the time.
func takeLease(f *os.File) error {
	err := WithFd(f, func(fd int) error {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETSIG, int(unix.SIGURG)); err != nil {
			return err
		}
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK)
		return err
	})
	if errors.Is(err, unix.EAGAIN) {
		return ErrOpen
	}
	return err
}

// LeaseOf returns the state of the lease on f, and so whether a program waits for the file.
func LeaseOf(f *os.File) Lease {
	is := 0
	err := WithFd(f, func(fd int) (err error) {
		is, err = unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
		return err
	})
	switch {
	case err != nil:
		return LeaseUnknown
	case is == unix.F_WRLCK:
		return LeaseHeld
	case is == unix.F_RDLCK:
		return ReaderWaits
	}
	return WriterWaits
}

// dropLease does not rely on the closing of the file: a child between fork and
// exec has it open, too.
func dropLease(f *os.File) {
	_ = WithFd(f, func(fd int) error {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
		return err // an expired lease is none
	})
}
