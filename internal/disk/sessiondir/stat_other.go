//go:build !linux

package sessiondir

// Stat returns the stamp of the file name, a name in the directory, without
// following a symlink.
func (d *Dir) Stat(name string) (Stamp, error) { return d.lstat(name) }
