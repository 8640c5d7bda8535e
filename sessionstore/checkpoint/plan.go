package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

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
		Age: r.in.opts.Now().Sub(state.LastUpdated()),
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
		} else if to := filepath.Join(parent, rel); taken(to) && !sameFile(to, filepath.Join(r.dir, rel)) {
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
	for phase := FirstPhase; phase <= LastPhase; phase++ {
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
		named += " (" + plain(name) + ")"
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

// plain returns s in one line without control characters, which could steer a terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.Join(strings.Fields(s), " "))
}

// summary returns the beginning of s in one line.
func summary(s string) string {
	r := []rune(plain(s))
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
