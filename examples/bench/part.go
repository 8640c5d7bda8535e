package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// parts are what is read of a session: something that has to do with a number.
var parts = map[string]func(ctx context.Context, st *sessionstore.Store, n int) (rows []sessionstore.Message, err error){
	"turn": func(ctx context.Context, st *sessionstore.Store, n int) ([]sessionstore.Message, error) {
		return st.Turn(ctx, sessionID, n)
	},
	"window": func(ctx context.Context, st *sessionstore.Store, n int) ([]sessionstore.Message, error) {
		return slice.ResumeWindow(ctx, st, sessionID, n)
	},
	"all": func(ctx context.Context, st *sessionstore.Store, _ int) ([]sessionstore.Message, error) {
		s, err := st.Load(ctx, sessionID)
		if err != nil {
			return nil, err
		}
		return s.Messages, nil
	},
}

// readPart times the opening of a Store and the reading of a part, once: what it
// costs in a process that has done nothing before. n of the line is how many
// messages the part has.
func readPart(r *run) error {
	if len(r.args) < 3 || parts[r.args[1]] == nil {
		return errUsage
	}
	n, err := r.number(2)
	if err != nil {
		return err
	}
	return r.time(func() error {
		st, err := sessionstore.Open(data(r.args[0]), nil)
		if err != nil {
			return err
		}
		rows, err := parts[r.args[1]](context.Background(), st, n)
		r.n = len(rows)
		return errors.Join(err, st.Close())
	})
}

// appendAsked appends a message, and one more after each line that it reads. It
// prints a line after each.
func appendAsked(r *run) error {
	if len(r.args) == 0 {
		return errUsage
	}
	st, err := sessionstore.Open(data(r.args[0]), &sessionstore.Options{Durability: sessionstore.Relaxed, CacheBytes: 4 << 30})
	if err != nil {
		return err
	}
	m, err := sessionstore.Text("assistant", strings.Repeat("more ", 200), time.Now())
	for asked := bufio.NewScanner(os.Stdin); err == nil; {
		if err = st.Append(context.Background(), sessionID, m); err == nil {
			_, err = fmt.Fprintln(r.out, "appended")
		}
		if !asked.Scan() {
			break
		}
	}
	return errors.Join(err, st.Close())
}

// appender is a process that appends.
type appender struct {
	process *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Reader
}

// startAppender starts one that has appended once to the session in dir.
func startAppender(program, dir string) (*appender, error) {
	a := &appender{process: exec.CommandContext(context.Background(), program, "append-asked", dir)}
	a.process.Stderr = os.Stderr
	out, err := a.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if a.ask, err = a.process.StdinPipe(); err != nil {
		return nil, err
	}
	a.answers = bufio.NewReader(out)
	if err := a.process.Start(); err != nil {
		return nil, err
	}
	if err := a.answered(); err != nil {
		return nil, errors.Join(err, a.end())
	}
	return a, nil
}

func (a *appender) answered() error {
	_, err := a.answers.ReadString('\n')
	return err
}

// append waits for one more append.
func (a *appender) append() error {
	if _, err := io.WriteString(a.ask, "\n"); err != nil {
		return err
	}
	return a.answered()
}

func (a *appender) end() error { return errors.Join(a.ask.Close(), a.process.Wait()) }
