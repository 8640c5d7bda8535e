package screen

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// defaultPager is what PAGER is where that is not set, and LESS what its variable
// of that name is then: it ends by itself where all fits, keeps colours, and leaves
// the text on the terminal.
const (
	defaultPager = "less"
	defaultLess  = "FRX"
)

// Page lets a pager show what is written from now on, if standard output is a
// terminal that a pager works on. The pager is the command PAGER, less without
// that; "cat" is none. The caller must call wait when all is written; it returns
// when the person has left the pager.
func (s *Screen) Page(env func(name string) string) (wait func() error) {
	none := func() error { return nil }
	command := strings.Fields(env("PAGER"))
	if len(command) == 0 {
		command = []string{defaultPager}
	}
	if term := env("TERM"); !s.outTTY || !s.inTTY || term == "" || term == "dumb" || command[0] == "cat" {
		return none
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = s.out, s.err, os.Environ()
	if env("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS="+defaultLess)
	}
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return none
	}
	s.mu.Lock()
	s.wipe()
	out := s.out
	s.out = pipe{in}
	s.mu.Unlock()
	return func() error {
		s.mu.Lock()
		s.out = out
		s.mu.Unlock()
		return errors.Join(in.Close(), left(cmd.Wait()))
	}
}

// pipe leads to a pager. When that has gone, nothing more is shown, and that is no
// error.
type pipe struct{ io.Writer }

func (p pipe) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return len(b), nil
	}
	return n, err
}

// left is the error of a pager that did not run; how it ended is the person's.
func left(err error) error {
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return nil
	}
	return err
}
