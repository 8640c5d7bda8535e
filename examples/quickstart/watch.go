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

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

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
