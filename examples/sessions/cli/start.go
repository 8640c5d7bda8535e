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

// start runs a program that goes on with a session, in the directory dir in which the
// session worked, until it ends, and returns its exit code as an error. Without a terminal it
// prints the command instead, and so it does where the program is not on PATH or the
// directory is not known.
func (a *app) start(t target, dir string, env []string, words ...string) error {
	line := host.Line(dir, words...)
	if !a.interactive() {
		a.Printf("%s\n", line)
		return nil
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return a.byHand(screen.Plain(words[0])+" is not on PATH", line)
	}
	if dir != "" && !filepath.IsAbs(dir) {
		return a.byHand("the session worked in "+screen.Plain(dir)+", which is no directory of this machine", line)
	}
	if dir == "" && !a.worksHere(t) {
		return a.byHand("the session does not name the directory in which it worked", line)
	}
	if err := picker.Free(a.ctx, t.store, t.id); errors.Is(err, sessionstore.ErrLocked) || errors.Is(err, sessionstore.ErrFenced) {
		return err
	}
	if dir != "" && !isDir(dir) {
		yes, err := a.Confirm(a.ctx, fmt.Sprintf("The directory %s is gone. Make it, empty, and go on there?", screen.Plain(dir)))
		if err != nil || !yes {
			return errors.Join(err, exitCode(exitError))
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return a.runProgram(picker.Program{
		Words: append([]string{path}, words[1:]...), Dir: dir, Env: env, In: a.stdin, Out: a.stdout, Err: a.Errors(),
	})
}

// byHand notes the reason why a program is not started, and prints the command that
// starts it.
func (a *app) byHand(why, line string) error {
	a.Notef("%s %s; this goes on with it:", a.PaintError(screen.Yellow, "note:"), why)
	a.Printf("%s\n", line)
	return nil
}

// worksHere reports whether a session is of the project of the working directory.
func (a *app) worksHere(t target) bool {
	slug, err := where{}.slug("", true)
	return err == nil && slug == projectOf(t)
}

// runProgram gives the terminal to a program. Ctrl-C is for that program alone; other
// signals end it.
func (a *app) runProgram(p picker.Program) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(context.WithoutCancel(a.ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-signals:
				if s != os.Interrupt {
					cancel()
				}
			}
		}
	}()
	defer func() {
		cancel()
		<-ended
	}()
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
