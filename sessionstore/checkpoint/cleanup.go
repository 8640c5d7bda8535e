package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// movesOpen reports whether a directory that is open can be renamed.
func movesOpen() bool { return runtime.GOOS != "windows" }

// removedExt is behind the name of a directory that is about to be removed.
const removedExt = ".archive.removed"

// archiveOrRemove renames the directory of a session to its archive, or removes it, at
// once and whole.
func (d *Dir) archiveOrRemove(item *Item) error {
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
	primary := func(name string) bool { return name == primaryName }
	fallback := func(name string) bool { return strings.HasPrefix(name, fallbackPrefix) }
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
// maxAge; 0 is 72 hours. The directory of a completed session is removed once its
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
	return item, d.archiveOrRemove(item)
}

// cleanLocked reads the state again under the lock. Of a session to be deleted it moves the
// outputs out. Where open directories can be renamed, it moves the session away before the
// lock is free; elsewhere it removes the state, so that no process can update it.
func (d *Dir) cleanLocked(ctx context.Context, dir string, cutoff time.Time) (*Item, error) {
	f, err := d.openFolder(dir)
	if err != nil {
		return nil, ignoreNotExist(err)
	}
	defer f.Close()
	lock, err := f.lock(ctx, dir)
	if err != nil {
		return nil, ignoreNotExist(err)
	}
	defer lock.Unlock()
	state, err := f.read()
	if err != nil {
		return nil, ignoreNotExist(err)
	}
	if !state.LastUpdated().Before(cutoff) {
		return nil, nil
	}
	s := &Run{parent: d, dir: dir, state: state}
	item := s.plan(state)
	if item.Action == Delete {
		if err := d.moveOut(dir, item.Moves); err != nil {
			return nil, err
		}
	}
	switch {
	case item.Action == Keep:
	case movesOpen():
		err = d.archiveOrRemove(&item)
	case item.Action == Delete:
		err = f.removeState()
	}
	if err != nil {
		return nil, err
	}
	return &item, nil
}

// ignoreNotExist drops the error that another clean-up was there before.
func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Action is the action of a clean-up for an old session.
type Action string

// The actions.
const (
	Delete  Action = "delete"  // completed: its directory goes, its outputs stay
	Archive Action = "archive" // not completed: its directory is renamed
	Keep    Action = "keep"    // it holds outputs that cannot be moved out
)

// An Item is one old session and the action for it.
type Item struct {
	Dir    string
	ID     string
	Status Status
	Age    time.Duration
	Action Action
	To     string   // the name of the archive
	Moves  []string // outputs that move from the session directory to the output directory, relative to both
	Err    error    // why it is kept, or the failure
}

// A Plan lists the actions of a clean-up, planned or done.
type Plan struct {
	Items      []Item
	Unreadable []error // directories whose state cannot be read; they are left alone
}

func (r *Run) plan(state State) Item {
	item := Item{
		Dir: r.dir, ID: state.ID(), Status: state.Status(),
		Age: r.parent.opts.Now().Sub(state.LastUpdated()),
	}
	if item.Status != Completed {
		item.Action, item.To = Archive, archiveName(r.dir)
		return item
	}
	item.Action = Delete
	item.Moves = r.inside(state)
	parent := filepath.Dir(r.dir)
	for _, rel := range item.Moves {
		if fi, err := os.Lstat(filepath.Join(r.dir, rel)); err != nil || !fi.Mode().IsRegular() {
			item.Action, item.Err = Keep, errors.New("an output in the session directory is no plain file")
		} else if !sameFile(parent, state.OutputDirectory()) {
			item.Action, item.Err = Keep, errors.New("outputs lie in the session directory and the output directory is elsewhere")
		} else if to := filepath.Join(parent, rel); exists(to) && !sameFile(to, filepath.Join(r.dir, rel)) {
			item.Action, item.Err = Keep, errors.New("an output in the session directory has a namesake in the output directory")
		}
	}
	if item.Action == Keep {
		item.Moves = nil
	}
	return item
}

// inside returns the outputs of all phases that lie in the session directory.
func (r *Run) inside(state State) (rels []string) {
	for phase := firstPhase; phase <= lastPhase; phase++ {
		for _, out := range state.Outputs(phase) {
			rel := filepath.FromSlash(out.Path)
			if filepath.IsAbs(rel) {
				if inner, err := filepath.Rel(r.dir, rel); err == nil {
					rel = inner
				}
			}
			if rel = filepath.Clean(rel); out.Path == "" || !filepath.IsLocal(rel) || slices.Contains(rels, rel) {
				continue
			}
			if _, err := os.Lstat(filepath.Join(r.dir, rel)); err == nil {
				rels = append(rels, rel)
			}
		}
	}
	return rels
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
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

const longestSummary = 80 // characters of the research goals in a prompt

// Prompt returns the question whether to resume a session. A phase without a name in
// phaseNames is shown by its number alone.
func Prompt(s State, phaseNames map[int]string) string {
	at := s.text("last_updated")
	if at == "" {
		at = s.text("created_at")
	}
	phase := strconv.Itoa(s.CurrentPhase())
	named := phase
	if name := phaseNames[s.CurrentPhase()]; name != "" {
		named += " (" + printable(name) + ")"
	}
	var done []string
	for _, p := range s.CompletedPhases() {
		done = append(done, strconv.Itoa(p))
	}
	return "Found incomplete session from " + at + "\n" +
		"Project: " + summary(s.ResearchGoals()) + "\n" +
		"Status: Phase " + named + "\n" +
		"Completed: Phases " + strings.Join(done, ", ") + "\n\n" +
		"Resume from Phase " + phase + "? [yes/no]"
}

// printable returns s in one line without control characters, which could steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.Join(strings.Fields(s), " "))
}

// summary returns the beginning of s in one line.
func summary(s string) string {
	r := []rune(printable(s))
	if len(r) <= longestSummary {
		return string(r)
	}
	return strings.TrimRight(string(r[:longestSummary-1]), " ") + "…"
}

// Prompt returns the question whether to clean up. Sessions that are kept are
// not in it; without others it is empty.
func (p Plan) Prompt() string {
	var b strings.Builder
	for _, item := range p.Items {
		if item.Action != Keep {
			fmt.Fprintf(&b, "- %s (%s, %s old)\n", item.ID, item.Status, days(item.Age))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "Would you like to clean up old sessions?\nFound:\n" + b.String() +
		"\nDelete completed, archive interrupted? [yes/no]"
}

func days(age time.Duration) string {
	n := int(age / (24 * time.Hour))
	if n == 1 {
		return "1 day"
	}
	return strconv.Itoa(n) + " days"
}
