package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A run is the result of one run of a part: a line of runs.jsonl.
type run struct {
	Time    time.Time      `json:"time"`
	Commit  string         `json:"commit"`
	Part    string         `json:"part"`
	Seed    uint32         `json:"seed"`
	Command string         `json:"command"`
	Seconds float64        `json:"seconds"`
	Result  string         `json:"result"`
	Reason  string         `json:"reason,omitempty"`  // why it did not run, or is no failure of a test
	Planned bool           `json:"planned,omitempty"` // it failed on purpose
	Repeat  string         `json:"repeat,omitempty"`  // the command that repeats the failure
	Log     string         `json:"log,omitempty"`     // the file with its output
	Figures map[string]int `json:"figures,omitempty"` // its counts
}

// Results of a run.
const (
	passed = "passed"
	failed = "failed"
	notRun = "not run"
)

func (r run) isFind() bool { return r.Result == failed && !r.Planned }

// run runs the part, unless the machine lacks something, and keeps the result.
func (s *soak) run(ctx context.Context, p part, seed uint32, lacks error) error {
	s.awaitGate(ctx)
	begin := time.Now()
	r := run{Time: begin.UTC(), Commit: s.commit, Part: p.name, Seed: seed, Result: notRun}
	if lacks != nil {
		r.Reason = lacks.Error()
		return s.keep(r)
	}
	lines := p.lines(seed)
	r.Command = strings.Join(lines, "; ")
	fmt.Fprintf(s.out, "%s: seed %d\n", p.name, seed)
	log := filepath.Join(s.state, fmt.Sprintf("%s-%s-%d.log", begin.UTC().Format("20060102T150405"), p.name, seed))
	e, err := s.execute(ctx, p, lines, log)
	if err != nil {
		return err
	}
	f, err := readFindings(log, e.size, p.shows)
	if err != nil {
		return err
	}
	r.conclude(p, e, f)
	r.Seconds = time.Since(begin).Round(time.Millisecond).Seconds()
	if r.Result == passed {
		err = os.Remove(log)
	} else {
		r.Log = filepath.Base(log)
	}
	return errors.Join(err, s.keep(r))
}

// conclude sets the result of the run.
func (r *run) conclude(p part, e ended, f findings) {
	r.Result, r.Reason = judge(e, f)
	r.Figures = f.figures
	if p.planned(r.Seed) && r.Result != notRun {
		r.Planned = r.Result == failed && f.failing && f.shown
		if !r.Planned {
			r.Result, r.Reason = failed, "it was to fail with this seed"
		}
	}
	if r.Result != failed {
		return
	}
	r.Repeat = r.Command
	if f.repeat != "" && !p.whole {
		r.Repeat = strings.Join(append(slices.DeleteFunc(slices.Clone(p.env), known), f.repeat), " ")
	}
}

// known reports whether a test prints this variable in the command that repeats its
// failure, or does the same without it.
func known(variable string) bool {
	return strings.HasPrefix(variable, "TEST_LONG=") || strings.HasPrefix(variable, "CI=")
}

// keep adds the run to the list, and to the file of all runs.
func (s *soak) keep(r run) error {
	s.runs = append(s.runs, r)
	fmt.Fprintf(s.out, "%s: seed %d: %s in %.0f s%s\n", r.Part, r.Seed, r.Result, r.Seconds, because(r.Reason))
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(s.state, "runs.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// readFindings reads the first bytes of a log, as many as size says.
func readFindings(log string, size int64, shows string) (findings, error) {
	in, err := os.Open(log)
	if err != nil {
		return findings{}, err
	}
	defer in.Close()
	return read(io.LimitReader(in, size), shows)
}
