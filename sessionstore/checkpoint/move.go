package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
)

// moveOut moves outputs from the session directory to the directory that it
// lies in. It replaces nothing. Each output has its new name for good before
// it loses the old one; of what a killed process left with both, the old name
// goes.
func (st *Store) moveOut(dir string, rels []string) error {
	for _, rel := range rels {
		if err := st.moveOne(dir, rel); err != nil {
			return fmt.Errorf("move output: %w", err)
		}
	}
	return nil
}

func (st *Store) moveOne(dir, rel string) error {
	out := filepath.Dir(dir)
	if err := st.makeParents(out, rel); err != nil {
		return err
	}
	d, err := st.openDir(out)
	if err != nil {
		return err
	}
	defer d.Close()
	from := filepath.Join(filepath.Base(dir), rel)
	err = d.Link(from, rel)
	if errors.Is(err, fs.ErrExist) && sameFile(filepath.Join(out, rel), filepath.Join(dir, rel)) {
		err = nil
	}
	if err != nil {
		return err
	}
	if st.sync() {
		if err := st.syncDir(filepath.Join(out, filepath.Dir(rel))); err != nil {
			return err
		}
	}
	return d.Remove(from)
}

// makeParents makes the directories of rel in out, and their names durable:
// who made them may have been killed before they were.
func (st *Store) makeParents(out, rel string) error {
	d, err := st.openDir(out)
	if err != nil {
		return err
	}
	defer d.Close()
	for i := range len(rel) {
		if !os.IsPathSeparator(rel[i]) {
			continue
		}
		if err := d.Mkdir(rel[:i]); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if st.sync() {
			if err := st.syncDir(filepath.Join(out, filepath.Dir(rel[:i]))); err != nil {
				return err
			}
		}
	}
	return nil
}

// openDir opens the directory path for changes.
func (st *Store) openDir(path string) (*atomicfile.Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return atomicfile.New(root, st.opts.seam), nil
}

// syncDir makes the names in the directory path durable.
func (st *Store) syncDir(path string) error {
	d, err := st.openDir(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
