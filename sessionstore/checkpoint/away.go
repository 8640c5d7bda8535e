package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// movesOpen reports whether a directory that is open can be renamed.
func movesOpen() bool { return runtime.GOOS != "windows" }

// removedExt is behind the name of a directory that is about to be removed.
const removedExt = ".archive.removed"

// moveAway renames the directory of a session to its archive, or removes it, at
// once and whole.
func (st *Store) moveAway(item *Item) error {
	parent, err := st.openDir(filepath.Dir(item.Dir))
	if err != nil {
		return err
	}
	defer parent.Close()
	name, to := filepath.Base(item.Dir), filepath.Base(item.To)
	if item.Action == Delete {
		to = name + removedExt
		if err := parent.RemoveAll(to); err != nil {
			return err
		}
	}
	if err := parent.Rename(name, to); err != nil {
		return err
	}
	if st.sync() { // else a power cut could bring the old name back for half a session
		if err := parent.Sync(); err != nil {
			return err
		}
	}
	if item.Action == Delete {
		return parent.RemoveAll(to)
	}
	return nil
}

// sweep removes what a killed clean-up left of directories in parent that it
// was removing; ours tells their names.
func (st *Store) sweep(parent string, ours func(name string) bool) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil // nothing was removed there
	}
	var failures []error
	for _, e := range entries {
		name, removed := strings.CutSuffix(e.Name(), removedExt)
		if fi, err := e.Info(); !removed || !ours(name) || err != nil || !fi.IsDir() || !isMine(fi) {
			continue
		}
		d, err := st.openDir(parent)
		if err == nil {
			err = errors.Join(d.RemoveAll(e.Name()), d.Close())
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("remove %q: %w", e.Name(), err))
		}
	}
	return errors.Join(failures...)
}

// sweepAll sweeps where sessions of outputDir may have been.
func (st *Store) sweepAll(outputDir string) error {
	primary := func(name string) bool { return name == st.opts.Primary }
	fallback := func(name string) bool { return strings.HasPrefix(name, st.opts.Fallback) }
	return errors.Join(st.sweep(outputDir, primary), st.sweep(st.opts.TempDir, fallback))
}
