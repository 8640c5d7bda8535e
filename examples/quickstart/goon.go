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
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// goOn interrupts a turn of session id, goes on with it, and forks the session, while
// another process watches the directory.
func (s *steps) goOn(ctx context.Context, id string) (err error) {
	watcher, err := startWatcher(ctx, s.store.Dir())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, watcher.stop()) }()

	// A program that is killed while a tool runs leaves a call without a result.
	question, err := sessionstore.Text("user", "Will it rain?", time.Now())
	if err != nil {
		return err
	}
	call, err := sessionstore.ToolCallMessage("", time.Now(), sessionstore.ToolCall{ID: "c1", Name: "forecast", Arguments: []byte(`{}`)})
	if err != nil {
		return err
	}
	if err := s.store.Append(ctx, id, question, call); err != nil {
		return err
	}
	fmt.Fprintln(s.out)
	s.tell("append", "%s: a question and a call of a tool; here the program is killed", id)
	seen, err := watcher.next()
	if err != nil {
		return err
	}
	s.tell("watch", "another process has seen: %s", printable(seen))

	// The next program sends the last turns to the model, which wants a result for each call.
	window, err := slice.ResumeWindow(ctx, s.store, id, 25)
	if err != nil {
		return err
	}
	ready, err := accept.Fix(accept.Anthropic, window)
	if err != nil {
		return err
	}
	s.tell("resume", "%s stored, %s sent to the model: %s", count(len(window), "message"), count(len(ready.Messages), "message"), ready.Amendments[0].Reasons[0])
	answer, err := sessionstore.Text("assistant", "I could not find out.", time.Now())
	if err != nil {
		return err
	}
	if err := s.store.Append(ctx, id, answer); err != nil {
		return err
	}
	fork, err := slice.Fork(ctx, s.store, id, &slice.ForkOptions{Turn: new(1)})
	if err != nil {
		return err
	}
	s.tell("fork", "%s: the first turn of that session", fork.ID)
	return nil
}

// watcher is another process that prints the changes of a sessions directory.
type watcher struct {
	process *exec.Cmd
	stdin   io.Closer
	lines   *bufio.Scanner
}

// startWatcher starts this program as a watcher, and returns when it watches.
func startWatcher(ctx context.Context, dir string) (*watcher, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	w := &watcher{process: exec.CommandContext(ctx, program, "-watch", dir)}
	w.process.Stderr = os.Stderr
	stdin, err := w.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := w.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.stdin, w.lines = stdin, bufio.NewScanner(stdout)
	if err := w.process.Start(); err != nil {
		return nil, err
	}
	_, err = w.next()
	return w, err
}

// next returns the next line that the watcher prints.
func (w *watcher) next() (string, error) {
	if !w.lines.Scan() {
		return "", errors.Join(fmt.Errorf("the watching process ended"), w.lines.Err())
	}
	return w.lines.Text(), nil
}

// stop ends the watcher, which waits for the end of its input.
func (w *watcher) stop() error {
	return errors.Join(w.stdin.Close(), w.process.Wait())
}

// watch is the program of a watcher: it prints the changes until its input ends.
func watch(ctx context.Context, out io.Writer, in io.Reader, dir string) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	store, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	changes, err := store.Watch(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "watching")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, in)
		stop()
	}()
	for change := range changes.Changes() {
		if strings.HasPrefix(change.File, "transcript") {
			fmt.Fprintln(out, change.ID, change.File)
		}
	}
	<-ended
	return changes.Close()
}
