package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// A row sums up all runs of a part.
type row struct {
	runs, failures, planned, notRun int
	seconds                         float64
	figures                         map[string]int
}

// rows returns a row for each part that was to run, by name.
func rows(runs []run) map[string]*row {
	table := map[string]*row{}
	for _, r := range runs {
		if table[r.Part] == nil {
			table[r.Part] = &row{figures: map[string]int{}}
		}
		table[r.Part].add(r)
	}
	return table
}

func (w *row) add(r run) {
	w.seconds += r.Seconds
	switch {
	case r.Result == notRun:
		w.notRun++
		return
	case r.Planned:
		w.planned++
	case r.Result == failed:
		w.failures++
	}
	w.runs++
	for name, n := range r.Figures {
		w.figures[name] += n
	}
}

// notes returns the figures that the runs of the part counted.
func (w *row) notes(p part) string {
	var notes []string
	if p.fails > 0 {
		notes = append(notes, fmt.Sprintf("%d runs, %d failures as planned", w.runs, w.planned))
	}
	for _, name := range slices.Sorted(maps.Keys(w.figures)) {
		notes = append(notes, fmt.Sprint(name, " ", w.figures[name]))
	}
	return strings.Join(notes, ", ")
}

// report prints the table of all parts, the failures, and the parts that did not run.
func (s *soak) report() {
	table := rows(s.runs)
	out := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\npart\truns\tfailures\tnot run\tseconds\tnotes")
	for _, p := range parts {
		if w := table[p.name]; w != nil {
			fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%.0f\t%s\n", p.name, w.runs, w.failures, w.notRun, w.seconds, w.notes(p))
		}
	}
	_ = out.Flush() // an error of the output could not be printed
	for _, r := range s.runs {
		if r.isFind() {
			fmt.Fprintf(s.out, "\nfailed: %s, seed %d, commit %s%s\n  output: %s\n  repeat: %s\n", r.Part, r.Seed, r.Commit, because(r.Reason), filepath.Join(s.state, r.Log), r.Repeat)
		}
	}
	for _, r := range s.runs {
		if r.Result == notRun {
			fmt.Fprintf(s.out, "\nnot run: %s, seed %d%s\n", r.Part, r.Seed, because(r.Reason))
		}
	}
}
