package picker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// check returns a [Checked] message: whether a session can be resumed, or the obstacle.
func (s store) check(ctx context.Context, program string, session Session) tea.Msg {
	e := Checked{Session: session, Command: host.ResumeLine(program, session.Dir, session.ID)}
	dir := session.Dir
	st, err := s.projects.Store(session.Project)
	if err == nil {
		md, _ := st.Metadata(ctx, session.ID) // one that cannot be read names no tool
		if tool := host.Origin(md); tool != "" && found(tool) {
			e.Origin = tool
		}
	}
	if !found(program) {
		e.Obstacle = NoHost
		return e
	}
	if !filepath.IsAbs(dir) { // none is known, or one of another system
		e.Obstacle = NoDir
		return e
	}
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		e.Obstacle = DirGone
		return e
	}
	if err == nil {
		err = Free(ctx, st, session.ID)
	}
	if errors.Is(err, sessionstore.ErrLocked) || errors.Is(err, sessionstore.ErrFenced) {
		e.Obstacle, e.Err = Locked, err
	}
	return e
}

// found reports whether a program is on PATH.
func found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// makeDir makes the directory of a session, and checks the session.
func (s store) makeDir(ctx context.Context, program string, session Session) tea.Msg {
	if err := os.MkdirAll(session.Dir, 0o700); err != nil {
		return Checked{Session: session, Err: err}
	}
	return s.check(ctx, program, session)
}

// Free returns an error when a host runs the session. It acquires the session, as a host
// does before it runs one, and releases it again.
func Free(ctx context.Context, st *sessionstore.Store, id string) error {
	hold, err := st.Acquire(ctx, id, sessionstore.Owner{})
	if err != nil {
		return err
	}
	return hold.Release()
}

// Program is a program that has the terminal until it ends, as the host of a session.
type Program struct {
	Words    []string // its name or path, and its arguments
	Dir      string   // that it runs in; "": the working directory
	Env      []string
	In       io.Reader
	Out, Err io.Writer
}

// Run runs the program. When ctx ends first, the program is asked to end, and killed
// when it has not done so after hostGrace.
func (p Program) Run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, p.Words[0], p.Words[1:]...)
	cmd.Dir, cmd.Env = p.Dir, append([]string(nil), p.Env...)
	if p.Dir != "" {
		cmd.Env = append(cmd.Env, "PWD="+p.Dir)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, p.Out, p.Err
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = hostGrace
	return cmd.Run()
}

// hostRun runs the host on the terminal, until it ends.
type hostRun struct {
	ctx     context.Context
	host    string
	session Session
	env     []string
	restore func() // brings the terminal to the state it had before the picker
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
}

func (h *hostRun) SetStdin(r io.Reader)  { h.stdin = r }
func (h *hostRun) SetStdout(w io.Writer) { h.stdout = w }
func (h *hostRun) SetStderr(w io.Writer) { h.stderr = w }

// hostGrace is the time that a host has to end after its context ended.
const hostGrace = 5 * time.Second

// Run runs the host. When the host fails, its output stays on the terminal until the
// user presses Enter.
func (h *hostRun) Run() error {
	err := Program{host.Resume(h.host, h.session.ID), h.session.Dir, h.env, h.stdin, h.stdout, h.stderr}.Run(h.ctx)
	fmt.Fprint(h.stdout, WholeTerminal)
	h.restore()
	if err != nil && h.ctx.Err() == nil {
		fmt.Fprintf(h.stdout, "\n%s: %s\nPress Enter for the list of sessions. ", clean(h.host), clean(err.Error()))
		_, _ = bufio.NewReaderSize(h.stdin, 16).ReadString('\n') // without an answer the list comes, too
	}
	return err
}

// ownRun is something of this program on the terminals. do reports whether the user has seen
// its output.
type ownRun struct {
	p  *program
	do func(ctx context.Context, in, out *os.File) (seen bool)
}

func (*ownRun) SetStdin(io.Reader)  {}
func (*ownRun) SetStdout(io.Writer) {}
func (*ownRun) SetStderr(io.Writer) {}

// Run leaves the output of do on the terminal until the user presses a key, unless it was seen.
// An interrupt ends do.
func (r *ownRun) Run() error {
	ctx, stop := signal.NotifyContext(r.p.ctx, os.Interrupt)
	defer stop()
	left := r.do(ctx, r.p.In, r.p.Out)
	fmt.Fprint(r.p.Out, WholeTerminal)
	r.p.reset()
	if !left && ctx.Err() == nil {
		fmt.Fprint(r.p.Out, "\nPress a key for the list of sessions. ")
		r.p.awaitKey(ctx)
	}
	return nil
}

// awaitKey waits until a key is pressed, or ctx ends.
func (p *program) awaitKey(ctx context.Context) {
	if _, err := term.MakeRaw(int(p.In.Fd())); err == nil {
		defer p.reset()
	}
	pressed := make(chan bool, 1)
	go func() { // a read of a terminal cannot be ended: if ctx ends first, so does the process
		_, _ = p.In.Read(make([]byte, 64)) // all bytes of a key
		pressed <- true
	}()
	select {
	case <-ctx.Done():
	case <-pressed:
	}
}

// WholeTerminal turns off the modes that a killed program may have left on: the
// alternate screen, reports of the mouse, of focus and of pasting, colors, keys in
// another form, and a hidden cursor.
const WholeTerminal = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1l\x1b>\x1b[?1047l\x1b[m\x1b[?25h"

// awaited is the answer that the user waits for. Answers come late, and in any order:
// only the answer to the last question counts, and it counts once.
type awaited struct {
	kind answerKind
	key  Key
}

type answerKind int

const (
	noAnswer answerKind = iota
	ofPlan
	ofCheck
	ofOrigin
	ofTurns
)

// arrived reports whether an answer is the awaited one. Then none is awaited any
// more.
func (a *awaited) arrived(kind answerKind, key Key) bool {
	if *a != (awaited{kind, key}) {
		return false
	}
	*a = awaited{noAnswer, Key{}}
	return true
}
