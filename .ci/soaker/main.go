// Soaker searches for failures beside the gate. It runs one part after the other, each
// with a new seed, in a clone of the newest commit that has landed, until it is stopped
// or the minutes are over.
//
//	.ci/soak [-minutes N] [-only PART,…] [-seed N]
//
// Without -only, weights and chance choose the parts. With -only and without -minutes, each
// named part runs once. The seed decides which parts are chosen, and the seeds of the runs.
//
// A run that fails stops nothing. While a gate runs, the soak rests: see gate.go. Each run
// adds a line to runs.jsonl in $XDG_STATE_HOME/sessionstorage-soak, and the output of a
// failed run stays beside it. A table at the end lists the runs and their failures, with
// the command that repeats each failure.
//
// The exit code is 0 when nothing was found, 1 when something was, and 2 when nothing
// ran.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The exit codes.
const (
	clean       = 0
	found       = 1
	couldNotRun = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout))
}

// command runs the program in the repository of the working directory.
func command(ctx context.Context, args []string, out io.Writer) int {
	o, err := parse(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return clean
	}
	s := &soak{poll: time.Second, grace: 10 * time.Second, root: os.Geteuid() == 0, out: out}
	if err == nil {
		err = s.open()
	}
	if err != nil {
		fmt.Fprintln(out, err)
		return couldNotRun
	}
	defer s.remove()
	if o.minutes > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, time.Duration(o.minutes*float64(time.Minute)))
		defer end()
	}
	fmt.Fprintf(out, "master seed %d\n", o.seed)
	if err := s.work(ctx, o); err != nil && ctx.Err() == nil {
		fmt.Fprintln(out, err)
	}
	s.report()
	return s.code()
}

// options are the options of the command line.
type options struct {
	minutes float64
	parts   []part
	once    bool // each part runs once, in this order
	seed    uint64
}

func parse(args []string, out io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Float64Var(&o.minutes, "minutes", 0, "how long it goes on; 0: until it is stopped")
	only := flags.String("only", "", "the `parts` to take, with commas between: "+strings.Join(names(parts), ", "))
	flags.Uint64Var(&o.seed, "seed", uint64(rand.Uint32()), "what decides about chance; a new one each time")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.minutes < 0 {
		return o, fmt.Errorf("usage: .ci/soak [-minutes N] [-only PART,…] [-seed N]; not %q", args)
	}
	o.parts, o.once = parts, *only != "" && o.minutes == 0
	if *only != "" {
		o.parts, err = named(strings.Split(*only, ","))
	}
	return o, err
}

// A soak runs parts.
type soak struct {
	repository string        // the newest commit that landed there is searched
	state      string        // the folder of runs.jsonl, of logs, and of the gate's lock
	folder     string        // of the clone, and of the files of runs
	commit     string        // of the clone
	poll       time.Duration // how often it looks whether a gate runs
	grace      time.Duration // how long a run may take to end after SIGTERM
	root       bool          // packages can be installed
	out        io.Writer
	runs       []run
}

// open finds the folders.
func (s *soak) open() (err error) {
	if s.repository, err = os.Getwd(); err != nil {
		return err
	}
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		state = filepath.Join(home, ".local", "state")
	}
	s.state = filepath.Join(state, "sessionstorage-soak")
	if err := os.MkdirAll(s.state, 0o700); err != nil {
		return err
	}
	s.folder, err = os.MkdirTemp("", "soak-")
	return err
}

// remove removes the clone and the files of runs.
func (s *soak) remove() {
	s.sweep()
	if err := os.RemoveAll(s.folder); err != nil {
		fmt.Fprintln(s.out, err)
	}
}

// work runs parts until ctx is done, or none is left to run. A part whose needs
// cannot be met is not tried again.
func (s *soak) work(ctx context.Context, o options) error {
	r := rand.New(rand.NewPCG(o.seed, 1))
	left := o.parts
	for len(left) > 0 && ctx.Err() == nil {
		p := left[0]
		if !o.once {
			p = choose(r, left)
		}
		if err := s.refresh(ctx); err != nil {
			return err
		}
		lacks := s.provide(ctx, p)
		if o.once {
			left = left[1:]
		} else if lacks != nil {
			left = slices.DeleteFunc(slices.Clone(left), func(q part) bool { return q.name == p.name })
		}
		if ctx.Err() != nil {
			return nil
		}
		if err := s.run(ctx, p, r.Uint32(), lacks); err != nil {
			return err
		}
	}
	return nil
}

// code returns the exit code.
func (s *soak) code() int {
	code := couldNotRun
	for _, r := range s.runs {
		switch {
		case r.isFind():
			return found
		case r.Result != notRun:
			code = clean
		}
	}
	return code
}
