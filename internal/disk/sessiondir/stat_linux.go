package sessiondir

import "github.com/amplifier-go/sessionstorage/internal/disk/vfs"

// Stat returns the stamp of the file name, a name in the directory, without
// following a symlink.
func (d *Dir) Stat(name string) (Stamp, error) {
	in := d.Opened()
	if in == nil {
		return d.lstat(name)
	}
	return vfs.StampAt(in, name, d.seam)
}
