package checkpoint

import (
	"errors"
	"fmt"
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
