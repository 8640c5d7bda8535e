package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// moveOut moves outputs from the session directory to the directory that it lies in. It
// replaces nothing. Each output has its new name for good before it loses the old one. If a
// killed process left an output with both names, the old name goes.
func (d *Dir) moveOut(dir string, rels []string) error {
	for _, rel := range rels {
		if err := d.moveOne(dir, rel); err != nil {
			return fmt.Errorf("move output: %w", err)
		}
	}
	return nil
}

func (d *Dir) moveOne(dir, rel string) error {
	out := filepath.Dir(dir)
	if err := d.makeParents(out, rel); err != nil {
		return err
	}
	folder, err := d.openDir(out)
	if err != nil {
		return err
	}
	defer folder.Close()
	from := filepath.Join(filepath.Base(dir), rel)
	err = folder.Link(from, rel)
	if errors.Is(err, fs.ErrExist) && sameFile(filepath.Join(out, rel), filepath.Join(dir, rel)) {
		err = nil
	}
	if err != nil {
		return err
	}
	if d.sync() {
		if err := d.syncDir(filepath.Join(out, filepath.Dir(rel))); err != nil {
			return err
		}
	}
	return folder.Remove(from)
}

// makeParents makes the directories of rel in out, and their names durable: the process
// that made them may have been killed before they were.
func (d *Dir) makeParents(out, rel string) error {
	folder, err := d.openDir(out)
	if err != nil {
		return err
	}
	defer folder.Close()
	for i := range len(rel) {
		if !os.IsPathSeparator(rel[i]) {
			continue
		}
		if err := folder.Mkdir(rel[:i]); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if d.sync() {
			if err := d.syncDir(filepath.Join(out, filepath.Dir(rel[:i]))); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameFile reports whether both paths lead to one file or directory.
func sameFile(a, b string) bool {
	fa, err := os.Stat(a)
	if err != nil {
		return false
	}
	fb, err := os.Stat(b)
	return err == nil && os.SameFile(fa, fb)
}
