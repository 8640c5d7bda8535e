package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// movesOpen reports whether a directory that is open can be renamed.
func movesOpen() bool { return runtime.GOOS != "windows" }

// removedExt is behind the name of a directory that is about to be removed.
const removedExt = ".archive.removed"

// moveAway renames the directory of a session to its archive, or removes it, at
// once and whole.
func (d *Dir) moveAway(item *Item) error {
	parent, err := d.openDir(filepath.Dir(item.Dir))
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
	if d.sync() { // else a power cut could bring the old name back for half a session
		if err := parent.Sync(); err != nil {
			return err
		}
	}
	if item.Action == Delete {
		return parent.RemoveAll(to)
	}
	return nil
}

// sweep removes the rest of directories in parent that a killed clean-up was removing; ours
// reports whether a name is theirs.
func (d *Dir) sweep(parent string, ours func(name string) bool) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil // nothing was removed there
	}
	var failures []error
	for _, e := range entries {
		name, removed := strings.CutSuffix(e.Name(), removedExt)
		if fi, err := e.Info(); !removed || !ours(name) || err != nil || !fi.IsDir() || !isOwn(fi) {
			continue
		}
		folder, err := d.openDir(parent)
		if err == nil {
			err = errors.Join(folder.RemoveAll(e.Name()), folder.Close())
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("remove %q: %w", e.Name(), err))
		}
	}
	return errors.Join(failures...)
}

// sweepAll sweeps where sessions of outputDir may have been.
func (d *Dir) sweepAll(outputDir string) error {
	primary := func(name string) bool { return name == d.opts.Primary }
	fallback := func(name string) bool { return strings.HasPrefix(name, d.opts.Fallback) }
	return errors.Join(d.sweep(outputDir, primary), d.sweep(d.opts.TempDir, fallback))
}

// Plan returns the removals that [Dir.Cleanup] would make, and touches nothing.
func (d *Dir) Plan(ctx context.Context, outputDir string, maxAge time.Duration) (Plan, error) {
	all, err := d.readAll(ctx, outputDir)
	if err != nil {
		return Plan{}, fmt.Errorf("plan clean-up: %w", err)
	}
	p := Plan{Unreadable: all.Unreadable}
	cutoff := d.cutoff(maxAge)
	for _, s := range all.Runs {
		if fi, err := os.Lstat(s.dir); err != nil || !fi.IsDir() || !isOwn(fi) {
			continue
		}
		if s.state.LastUpdated().Before(cutoff) {
			p.Items = append(p.Items, s.plan(s.state))
		}
	}
	return p, nil
}

// Cleanup visits the directories that [Dir.FindResumable] visits and that belong to this
// user and have a readable state, and cleans up sessions that were not updated within
// maxAge; 0 is [DefaultMaxAge]. The directory of a completed session is removed once its
// outputs are out of it; others are renamed to .archive, .archive.2 and so on. A session
// that is updated in between is left out. A failure for one session is in its item and in
// the error.
func (d *Dir) Cleanup(ctx context.Context, outputDir string, maxAge time.Duration) (Plan, error) {
	p, err := d.Plan(ctx, outputDir, maxAge)
	if err != nil {
		return Plan{}, err
	}
	cutoff := d.cutoff(maxAge)
	done := Plan{Unreadable: p.Unreadable}
	failures := []error{d.sweepAll(outputDir)}
	for _, item := range p.Items {
		if err := ctx.Err(); err != nil {
			failures = append(failures, err)
			break
		}
		again, err := d.clean(ctx, item.Dir, cutoff)
		if err != nil {
			item.Err = err
			failures = append(failures, fmt.Errorf("clean up session %q: %w", item.ID, err))
			done.Items = append(done.Items, item)
		} else if again != nil {
			done.Items = append(done.Items, *again)
		}
	}
	return done, errors.Join(failures...)
}

// clean carries out the action that is due now for the session in dir, or nothing when it
// is not old any more.
func (d *Dir) clean(ctx context.Context, dir string, cutoff time.Time) (*Item, error) {
	item, err := d.cleanLocked(ctx, dir, cutoff)
	if err != nil || item == nil || item.Action == Keep || movesOpen() {
		return item, err
	}
	return item, d.moveAway(item)
}

// cleanLocked reads the state again under the lock. Of a session to be deleted it moves the
// outputs out. Where open directories can be renamed, it moves the session away before the
// lock is free; elsewhere it removes the state, so that no process can update it.
func (d *Dir) cleanLocked(ctx context.Context, dir string, cutoff time.Time) (*Item, error) {
	f, err := d.openFolder(dir)
	if err != nil {
		return nil, unlessGone(err)
	}
	defer f.Close()
	lock, err := f.lock(ctx, dir)
	if err != nil {
		return nil, unlessGone(err)
	}
	defer lock.Unlock()
	state, err := f.read()
	if err != nil {
		return nil, unlessGone(err)
	}
	if !state.LastUpdated().Before(cutoff) {
		return nil, nil
	}
	s := &Run{in: d, dir: dir, state: state}
	item := s.plan(state)
	if item.Action == Delete {
		if err := d.moveOut(dir, item.Moves); err != nil {
			return nil, err
		}
	}
	switch {
	case item.Action == Keep:
	case movesOpen():
		err = d.moveAway(&item)
	case item.Action == Delete:
		err = f.removeState()
	}
	if err != nil {
		return nil, err
	}
	return &item, nil
}

// unlessGone drops the error that another clean-up was there before.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
