package dirread

import (
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/seam"
)

// Stamp is what tells a file from another and from itself before a change.
// Two equal stamps mean the same content, unless the file changed twice
// within one step of the file system's clock.
type Stamp struct {
	Dev, Inode   uint64 // zero where the system does not tell
	Size         int64
	Mtime, Ctime time.Time // of the content, of the inode
}

// StampOf returns the stamp in what the system tells of a file. hooks may be
// nil.
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

// SameContent reports whether two stamps are of one file that was not written
// between; its names may have changed.
func (s Stamp) SameContent(t Stamp) bool {
	return s.Dev == t.Dev && s.Inode == t.Inode && s.Size == t.Size && s.Mtime.Equal(t.Mtime)
}

// SameFile reports whether two stamps are of one file, whatever it holds, on
// systems that tell.
func (s Stamp) SameFile(t Stamp) bool { return s.Inode != 0 && s.Inode == t.Inode && s.Dev == t.Dev }
