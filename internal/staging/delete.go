package staging

import (
	"crypto/rand"
	"path/filepath"
)

// deletedDir is the directory of the bookkeeping that holds sessions until their
// files are removed.
const deletedDir = "trash"

// Delete removes path, the directory of a session or another below the
// sessions directory, with all that is in it. It vanishes at once and whole;
// what a killed process leaves of it is removed by the next Delete. With sync it
// does not come back after a power cut. The error is [fs.ErrNotExist] when there
// is none; a symlink is refused.
func (s *Staging) Delete(path string, sync bool) error {
	top, err := s.open()
	if err != nil {
		return err
	}
	if err := checkSession(top.Root(), path); err != nil {
		return err
	}
	in := filepath.Join(s.in, deletedDir)
	if err := top.MkdirAll(in); err != nil {
		return err
	}
	if err := top.Rename(path, filepath.Join(in, rand.Text())); err != nil {
		return err
	}
	if sync {
		if err := syncBelow(top, filepath.Dir(path)); err != nil {
			return err
		}
	}
	names, _ := top.NamesIn(in)
	for _, left := range names {
		_ = top.RemoveAll(filepath.Join(in, left)) // it is gone; what stays is tried again next time
	}
	return nil
}
