package vfs

import (
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// Stamp identifies a file and its state. Two equal stamps mean the same content, unless
// the file changed twice within one step of the file system's clock.
type Stamp struct {
	Dev, Inode   uint64 // zero where the system does not report them
	Size         int64
	Mtime, Ctime time.Time // of the content, of the inode
}

// StampOf returns the stamp in fi. hooks may be nil.
func StampOf(fi fs.FileInfo, hooks *seam.Seam) Stamp {
	dev, inode, ctime := identify(fi)
	return Stamp{
		Dev: dev, Inode: inode, Size: fi.Size(),
		Mtime: hooks.Round(fi.ModTime()), Ctime: hooks.Round(ctime),
	}
}

// rounded returns the stamp as a coarser clock of the file system gives it.
func (s Stamp) rounded(hooks *seam.Seam) Stamp {
	s.Mtime, s.Ctime = hooks.Round(s.Mtime), hooks.Round(s.Ctime)
	return s
}

// Same reports whether two stamps are of one unchanged file.
func (s Stamp) Same(t Stamp) bool {
	return s.SameContent(t) && s.Ctime.Equal(t.Ctime)
}

// SameContent reports whether two stamps are of one file that was not written in between;
// its names may have changed.
func (s Stamp) SameContent(t Stamp) bool {
	return s.Dev == t.Dev && s.Inode == t.Inode && s.Size == t.Size && s.Mtime.Equal(t.Mtime)
}

// SameFile reports whether two stamps are of one file, whatever its content, on systems
// that report the inode.
func (s Stamp) SameFile(t Stamp) bool { return s.Inode != 0 && s.Inode == t.Inode && s.Dev == t.Dev }

// The steps of the clocks by which file systems time changes: of file systems that keep
// parts of seconds, and of the coarsest.
const (
	fineStep   = 20 * time.Millisecond
	coarseStep = 2 * time.Second
)

// Settled reports whether a change of the file after the stamp s was taken, at the time
// at, is sure to show in a later stamp. Settled returns false when the file had changed
// within the same step of the file system's clock. Kernels that time changes more finely
// do so for one inode only: a file that is removed and made anew may look the same. hooks
// may be nil.
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
