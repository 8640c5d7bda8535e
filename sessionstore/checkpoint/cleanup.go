package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Action is what a clean-up does with an old session.
type Action string

// The actions.
const (
	Delete  Action = "delete"  // completed: its directory goes, its outputs stay
	Archive Action = "archive" // not completed: its directory is renamed
	Keep    Action = "keep"    // it holds outputs that cannot be moved out
)

// An Item is one old session and what is done with it.
type Item struct {
	Dir    string
	ID     string
	Status Status
	Age    time.Duration
	Action Action
	To     string   // the name of the archive
	Moves  []string // outputs that move from the session directory to the output directory, relative to both
	Err    error    // why it is kept, or what failed
}

// A Plan is what a clean-up does, or did.
type Plan struct {
	Items      []Item
	Unreadable []error // directories whose state cannot be read; they are left alone
}

// Plan tells what [Store.Cleanup] would do, and touches nothing.
func (st *Store) Plan(ctx context.Context, outputDir string, maxAge time.Duration) (Plan, error) {
	all, err := st.visit(ctx, outputDir)
	if err != nil {
		return Plan{}, fmt.Errorf("plan clean-up: %w", err)
	}
	p := Plan{Unreadable: all.Unreadable}
	cutoff := st.cutoff(maxAge)
	for _, s := range all.Sessions {
		if fi, err := os.Lstat(s.dir); err != nil || !fi.IsDir() || !isMine(fi) {
			continue
		}
		if s.state.LastUpdated().Before(cutoff) {
			p.Items = append(p.Items, s.plan(s.state))
		}
	}
	return p, nil
}

// Cleanup visits the directories that [Store.FindResumable] visits, those of
// this user with a readable state, and cleans up sessions that were not
// updated within maxAge; 0 is [DefaultMaxAge]. The directory of a completed one
// is removed once its outputs are out of it; others are renamed to .archive,
// .archive.2 and so on. A session that is updated meanwhile is left out. What
// failed for one session is in its item and in the error.
func (st *Store) Cleanup(ctx context.Context, outputDir string, maxAge time.Duration) (Plan, error) {
	p, err := st.Plan(ctx, outputDir, maxAge)
	if err != nil {
		return Plan{}, err
	}
	cutoff := st.cutoff(maxAge)
	done := Plan{Unreadable: p.Unreadable}
	failures := []error{st.sweepAll(outputDir)}
	for _, item := range p.Items {
		if err := ctx.Err(); err != nil {
			failures = append(failures, err)
			break
		}
		again, err := st.clean(ctx, item.Dir, cutoff)
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

// clean does what is to be done with the session in dir now, or nothing when
// it is not old any more.
func (st *Store) clean(ctx context.Context, dir string, cutoff time.Time) (*Item, error) {
	item, err := st.settle(ctx, dir, cutoff)
	if err != nil || item == nil || item.Action == Keep || movesOpen() {
		return item, err
	}
	return item, st.leave(item)
}

// settle looks again under the lock. Of a session to be deleted it moves the
// outputs out. Where open directories can be renamed, it leaves before the lock
// is free; elsewhere it removes the state, so that nobody can update it.
func (st *Store) settle(ctx context.Context, dir string, cutoff time.Time) (*Item, error) {
	f, err := st.openFolder(dir)
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
	s := &Session{st: st, dir: dir, state: state}
	item := s.plan(state)
	if item.Action == Delete {
		if err := st.moveOut(dir, item.Moves); err != nil {
			return nil, err
		}
	}
	switch {
	case item.Action == Keep:
	case movesOpen():
		err = st.leave(&item)
	case item.Action == Delete:
		err = f.forget()
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

// forget removes the state.
func (f *folder) forget() error {
	for _, name := range []string{backupFile, stateFile} {
		if err := f.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (s *Session) plan(state State) Item {
	item := Item{
		Dir: s.dir, ID: state.ID(), Status: state.Status(),
		Age: s.st.opts.Now().Sub(state.LastUpdated()),
	}
	if item.Status != Completed {
		item.Action, item.To = Archive, archiveName(s.dir)
		return item
	}
	item.Action = Delete
	item.Moves = s.inside(state)
	parent := filepath.Dir(s.dir)
	for _, rel := range item.Moves {
		if fi, err := os.Lstat(filepath.Join(s.dir, rel)); err != nil || !fi.Mode().IsRegular() {
			item.Action, item.Err = Keep, errors.New("an output in the session directory is no plain file")
		} else if !sameFile(parent, state.OutputDirectory()) {
			item.Action, item.Err = Keep, errors.New("outputs lie in the session directory and the output directory is elsewhere")
		} else if to := filepath.Join(parent, rel); taken(to) && !sameFile(to, filepath.Join(s.dir, rel)) {
			item.Action, item.Err = Keep, errors.New("an output in the session directory has a namesake in the output directory")
		}
	}
	if item.Action == Keep {
		item.Moves = nil
	}
	return item
}

// inside returns the outputs of all phases that lie in the session directory.
func (s *Session) inside(state State) (rels []string) {
	for phase := FirstPhase; phase <= LastPhase; phase++ {
		for _, out := range state.Outputs(phase) {
			rel := filepath.FromSlash(out.Path)
			if filepath.IsAbs(rel) {
				if r, err := filepath.Rel(s.dir, rel); err == nil {
					rel = r
				}
			}
			if rel = filepath.Clean(rel); out.Path == "" || !filepath.IsLocal(rel) || slices.Contains(rels, rel) {
				continue
			}
			if _, err := os.Lstat(filepath.Join(s.dir, rel)); err == nil {
				rels = append(rels, rel)
			}
		}
	}
	return rels
}

func taken(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
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

// archiveName returns a free name for the archive of dir.
func archiveName(dir string) string {
	name := dir + ".archive"
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s.archive.%d", dir, n)
	}
}
