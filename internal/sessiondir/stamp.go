package sessiondir

import (
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// Stamp is what tells a file from another and from itself before a change.
// Two equal stamps mean the same content, unless the file changed twice
// within one step of the file system's clock.
type Stamp struct {
	Dev, Inode   uint64 // zero where the system does not tell
	Size         int64
	Mtime, Ctime time.Time // of the content, of the inode
}

func (d *Dir) stamp(fi fs.FileInfo) Stamp { return stampOf(fi, d.seam) }

func stampOf(fi fs.FileInfo, seam *fault.Seam) Stamp {
	s := Stamp{Size: fi.Size(), Mtime: fi.ModTime()}
	s.identify(fi)
	s.Mtime, s.Ctime = seam.Round(s.Mtime), seam.Round(s.Ctime)
	return s
}
