package sessiondir

import "os"

// Discard removes the directory of session id with all that is in it. It
// vanishes at once and whole; what a killed process leaves of it is removed
// by the next Discard. The error is [fs.ErrNotExist] when there is none; a
// symlink is refused.
func (b *Base) Discard(id string, sync bool) error { return b.Destroy(id, sync) }

// names returns what is in the directory dir of root, as far as it can be read.
func names(root *os.Root, dir string) []string {
	f, err := root.Open(dir)
	if err != nil {
		return nil
	}
	all, _ := f.Readdirnames(-1)
	_ = f.Close() // only read
	return all
}
