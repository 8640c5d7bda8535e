package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/term"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/picker"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// interactive reports whether a program that this one starts has the terminal for its
// input and output.
func (a *app) interactive() bool {
	return terminalFile(a.stdin) != nil && terminalFile(a.stdout) != nil
}

// hostEnv is the environment of a host, which has to find the sessions of p.
func hostEnv(root string, p *projects.Projects) []string {
	env := os.Environ()
	if root != "" && filepath.Base(p.Dir()) == "projects" {
		env = append(env, "AMPLIFIER_HOME="+filepath.Dir(p.Dir()))
	}
	return env
}

// starting is a program that is to go on with a session, in the directory dir in which the
// session worked.
type starting struct {
	program, dir string
	path         string // of the program; "": the command is printed instead
	why          string // it is printed; "": there is no terminal
}

// start finds a program. The command is printed instead without a terminal, where the program
// is not on PATH and where the directory is not known. It makes a directory that is gone,
// after a question.
func (a *app) start(t target, dir, program string) (s starting, err error) {
	s = starting{program: program, dir: dir}
	if !a.interactive() {
		return s, nil
	}
	path, err := exec.LookPath(program)
	switch {
	case err != nil:
		s.why = screen.Plain(program) + " is not on PATH"
	case dir != "" && !filepath.IsAbs(dir):
		s.why = "the session worked in " + screen.Plain(dir) + ", which is no directory of this machine"
	case dir == "" && !a.worksHere(t):
		s.why = "the session does not name the directory in which it worked"
	}
	if s.why != "" {
		return s, nil
	}
	if err := picker.Free(a.ctx, t.store, t.id); errors.Is(err, sessionstore.ErrLocked) || errors.Is(err, sessionstore.ErrFenced) {
		return s, err
	}
	if dir != "" && !isDir(dir) {
		yes, err := a.Confirm(a.ctx, fmt.Sprintf("The directory %s is gone. Make it, empty, and go on there?", screen.Plain(dir)))
		if err != nil || !yes {
			return s, errors.Join(err, exitCode(exitError))
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return s, err
		}
	}
	s.path = path
	return s, nil
}

// run runs the program until it ends, and returns its exit code as an error, or prints the
// command.
func (s starting) run(a *app, env []string, args ...string) error {
	if s.path != "" {
		return a.runProgram(picker.Program{Words: append([]string{s.path}, args...), Dir: s.dir, Env: env, In: a.stdin, Out: a.stdout, Err: a.Errors()})
	}
	if s.why != "" {
		a.Notef("%s %s; this goes on with it:", a.PaintError(screen.Yellow, "note:"), s.why)
	}
	a.Printf("%s\n", host.Line(s.dir, append([]string{s.program}, args...)...))
	return nil
}

// worksHere reports whether a session is of the project of the working directory.
func (a *app) worksHere(t target) bool {
	slug, err := slugHere()
	return err == nil && slug == projectOf(t)
}

// runProgram gives the terminal to a program. Ctrl-C is for that program alone; other
// signals end it.
func (a *app) runProgram(p picker.Program) error {
	ctx, stop := signal.NotifyContext(context.WithoutCancel(a.ctx), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	in := terminalFile(a.stdin)
	before, failed := term.GetState(int(in.Fd()))
	err := p.Run(ctx)
	if err == nil {
		return nil
	}
	if code := (*exec.ExitError)(nil); errors.As(err, &code) && code.ExitCode() > 0 {
		return exitCode(code.ExitCode())
	}
	_, _ = io.WriteString(a.stdout, picker.WholeTerminal) // it was killed
	if failed == nil {
		_ = term.Restore(int(in.Fd()), before) // a terminal that is gone needs none
	}
	return err
}
