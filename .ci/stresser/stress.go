package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// A kind is how the tests of a package are built.
type kind struct {
	folder string
	race   bool
}

// A stress runs tests.
type stress struct {
	limits
	programs map[kind]string // that run the tests of packages
}

// stressAll runs the tests beside load until ctx is done, and prints the result of each.
func stressAll(ctx context.Context, tests []test, l limits, out io.Writer) (failed bool, err error) {
	work, err := os.MkdirTemp("", "stress-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(work)
	s := &stress{l, map[kind]string{}}
	if err := s.build(ctx, tests, work); err != nil {
		return false, err
	}
	idle, err := startLoad(l.busy)
	if err != nil {
		return false, err
	}
	defer idle()
	for i, t := range tests {
		bad, said := s.repeat(ctx, t)
		fmt.Fprintf(out, "%s: %s\n", t, said)
		failed = failed || bad
		if ctx.Err() != nil {
			for _, t := range tests[i+1:] {
				fmt.Fprintf(out, "%s: not reached\n", t)
			}
			break
		}
	}
	return failed, ctx.Err()
}

// build builds the programs of all packages, in the folder work.
func (s *stress) build(ctx context.Context, tests []test, work string) error {
	for _, t := range tests {
		for _, race := range []bool{false, true} {
			k := kind{t.folder, race}
			if s.programs[k] != "" {
				continue
			}
			module, pkg := moduleOf(t.folder)
			program := filepath.Join(work, fmt.Sprint(len(s.programs), ".test"))
			cmd := exec.CommandContext(ctx, "go", "test", "-C", module, "-c", "-o", program, fmt.Sprintf("-race=%t", race), pkg)
			if race {
				cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
			}
			if said, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s does not build: %w\n%s", t.folder, err, said)
			}
			s.programs[k] = program
		}
	}
	return nil
}

// moduleOf returns the folder of the module that has the package, and how the go
// command names the package there.
func moduleOf(folder string) (module, pkg string) {
	for module = folder; module != "."; module = path.Dir(module) {
		if _, err := os.Stat(path.Join(module, "go.mod")); err == nil {
			break
		}
	}
	if below := strings.TrimPrefix(strings.TrimPrefix(folder, module), "/"); module != "." {
		return module, "./" + below
	}
	return module, "./" + folder
}

// repeat runs a test as often as the limits say, and returns the result as text.
func (s *stress) repeat(ctx context.Context, t test) (failed bool, said string) {
	first := run{test: t, program: s.programs[kind{t.folder, false}]}
	first.do(ctx)
	switch {
	case ctx.Err() != nil:
		return false, "not reached"
	case first.err != nil:
		return true, "failed with its own seed\n" + first.describe()
	case !strings.Contains(first.said, "--- PASS: "+t.name+" "):
		return false, "it shows nothing: it was skipped, or is not built\n" + first.said
	}
	n, bad := s.many(ctx, t, false, s.runs)
	races := 0
	if bad == nil {
		races, bad = s.many(ctx, t, true, s.races)
	}
	said = fmt.Sprintf("passed %d times, and %d times with the race detector", n, races)
	switch {
	case bad != nil:
		return true, said + ", then it failed\n" + bad.describe()
	case ctx.Err() != nil:
		said += ", then the time was over"
	}
	return false, said
}

// many runs a test with new seeds until it was run that often, the time is over, or it
// fails. It returns how often it passed, and the run that failed.
func (s *stress) many(ctx context.Context, t test, race bool, most int) (n int, bad *run) {
	for begin := time.Now(); n < most && time.Since(begin) < s.each; n++ {
		r := run{test: t, program: s.programs[kind{t.folder, race}], race: race, seed: fmt.Sprint("TEST_SEED=", rand.Uint32())}
		r.do(ctx)
		if ctx.Err() != nil {
			return n, nil
		}
		if r.err != nil {
			return n, &r
		}
	}
	return n, nil
}

// A run is one run of a test.
type run struct {
	test
	program string
	race    bool
	seed    string // the variable that sets it; empty: the test's own
	said    string
	err     error
}

// do runs the test and all that it starts, until ctx is done.
func (r *run) do(ctx context.Context) {
	cmd := exec.CommandContext(ctx, r.program, "-test.run=^"+regexp.QuoteMeta(r.name)+"$", "-test.count=1", "-test.v", "-test.timeout=10m")
	cmd.Dir = r.folder
	cmd.Env = append(os.Environ(), "TEST_SEED=")
	if r.seed != "" {
		cmd.Env = append(cmd.Env, r.seed)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrWaitDelay) { // a process that the test started still has its output open
		err = nil
	}
	r.said, r.err = string(out), err
}

// describe returns the output of the run, and the command that repeats it.
func (r *run) describe() string {
	_, command, ok := strings.Cut(r.said, "to repeat: ")
	command, _, _ = strings.Cut(command, "\n")
	if !ok {
		module, pkg := moduleOf(r.folder)
		command = fmt.Sprintf("go test -C %s -race=%t -count=1 -run='^%s$' %s", module, r.race, r.name, pkg)
		if r.seed != "" {
			command = r.seed + " " + command
		}
	}
	return fmt.Sprintf("%s%v\nrepeat: %s", r.said, r.err, command)
}

// busyVariable has this program make load.
const busyVariable = "STRESSER_BUSY"

// startLoad starts processes that keep processors busy, until idle is called.
func startLoad(n int) (idle func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var all []*exec.Cmd
	idle = func() {
		for _, cmd := range all {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it ends by the kill
		}
	}
	for range n {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), busyVariable+"=1")
		if _, err := cmd.StdinPipe(); err != nil { // the load's standard input ends with this program
			idle()
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			idle()
			return nil, err
		}
		all = append(all, cmd)
	}
	return idle, nil
}

// beBusy keeps a processor busy until the standard input ends.
func beBusy() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for n := 0; ; n++ {
	}
}
