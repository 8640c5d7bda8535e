package sessiondir

import (
	"io/fs"
	"time"
)

// Stamp is what tells a file from another and from itself before a change.
// Two equal stamps mean the same content, unless the file changed twice
// within one step of the file system's clock.
type Stamp struct {
	Dev, Inode   uint64 // zero where the system does not tell
	Size         int64
	Mtime, Ctime time.Time // of the content, of the inode
}

func (d *Dir) stamp(fi fs.FileInfo) Stamp {
	s := Stamp{Size: fi.Size(), Mtime: fi.ModTime()}
	s.identify(fi)
	s.Mtime, s.Ctime = d.seam.Round(s.Mtime), d.seam.Round(s.Ctime)
	return s
}
