package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// samples is a project as the Python store left it.
//
//go:embed all:testdata/samples
var samples embed.FS

const sampleSessions = "testdata/samples/projects/-home-ada-weather-report/sessions"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := error(nil)
	if len(os.Args) == 3 && os.Args[1] == "-watch" { // this is the other process of the tour
		err = watch(ctx, os.Stdout, os.Stdin, os.Args[2])
	} else {
		err = run(ctx, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// run makes the copy, which stays if all went well, and takes the tour through it.
func run(ctx context.Context, out io.Writer) (err error) {
	temp, err := os.MkdirTemp("", "quickstart-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	sample, err := fs.Sub(samples, sampleSessions)
	if err != nil {
		return err
	}
	dir := filepath.Join(temp, "sessions")
	if err := os.CopyFS(dir, sample); err != nil {
		return fmt.Errorf("copy sample: %w", err)
	}
	fmt.Fprintf(out, "A project that the Python store wrote, copied to a fresh directory, which stays.\n%s\n\n", dir)
	store, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	t := &tour{store, out}
	if err := t.list(ctx); err != nil {
		return err
	}
	id, err := store.Find(ctx, "8f14", nil) // the beginning of an id
	if err != nil {
		return err
	}
	if err := t.appendTurn(ctx, id); err != nil {
		return err
	}
	if err := t.fork(ctx, id); err != nil {
		return err
	}
	own, err := t.interrupted(ctx)
	if err != nil {
		return err
	}
	if err := t.goOn(ctx, own); err != nil {
		return err
	}
	t.section()
	t.print("next", "look at these sessions in a browser: go run -C examples/viewer . -open -dir '%s'", dir)
	t.print("", "or your own on the terminal: go run -C examples/sessions .")
	t.print("", "an agent to copy from: examples/agent/main.go")
	return nil
}

// tour holds the store that the steps use.
type tour struct {
	store *sessionstore.Store
	out   io.Writer
}

// print prints a line of the report beside the name of its step.
func (t *tour) print(step, format string, args ...any) {
	fmt.Fprintf(t.out, "%-9s "+format+"\n", append([]any{step}, args...)...)
}

// section begins a part of the report.
func (t *tour) section() { fmt.Fprintln(t.out) }

// list prints the sessions, the last changed first.
func (t *tour) list(ctx context.Context) error {
	for s, err := range t.store.Summaries(ctx, nil) {
		if err != nil {
			return err
		}
		t.print("list", "%s  %d turns  %s", s.ID, s.Turns, s.Title)
	}
	return nil
}

// appendTurn adds a question and an answer to a session.
func (t *tour) appendTurn(ctx context.Context, id string) error {
	transcript := filepath.Join(t.store.Dir(), id, "transcript.jsonl")
	before, err := os.ReadFile(transcript)
	if err != nil {
		return err
	}
	question, err := sessionstore.Text("user", "Is this session safe?", time.Now())
	if err != nil {
		return err
	}
	answer, err := sessionstore.Text("assistant", "Every byte of it is where it was, and this line is new.", time.Now())
	if err != nil {
		return err
	}
	if err := t.store.Append(ctx, id, question, answer); err != nil {
		return err
	}
	after, err := os.ReadFile(transcript)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(after, before) {
		return fmt.Errorf("append to %s: other bytes changed", id)
	}
	t.section()
	t.print("append", "%s: a question and its answer", id)
	t.print("", "transcript.jsonl: %d bytes as they were, and %d new ones", len(before), len(after)-len(before))
	return nil
}

// fork makes a session of the first turn of another.
func (t *tour) fork(ctx context.Context, id string) error {
	fork, err := slice.Fork(ctx, t.store, id, &slice.ForkOptions{Turn: new(1)})
	if err != nil {
		return err
	}
	t.print("fork", "%s: its first turn, a session of its own", fork.ID)
	return nil
}

// interrupted makes a session whose program was killed while a tool ran: a call has no
// result. Another process sees it as it comes.
func (t *tour) interrupted(ctx context.Context) (id string, err error) {
	watcher, err := startWatcher(ctx, t.store.Dir())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, watcher.stop()) }()
	question, err := sessionstore.Text("user", "Will it rain in Zürich?", time.Now())
	if err != nil {
		return "", err
	}
	call, err := sessionstore.ToolCallMessage("", time.Now(), sessionstore.ToolCall{ID: "c1", Name: "forecast", Arguments: []byte(`{}`)})
	if err != nil {
		return "", err
	}
	id = sessionstore.NewID()
	if err := t.store.Append(ctx, id, question, call); err != nil {
		return "", err
	}
	t.section()
	t.print("make", "%s: a question and a call of a tool; here the program is killed", id)
	seen, err := watcher.next()
	if err != nil {
		return "", err
	}
	t.print("watch", "another process has seen: %s", seen)
	return id, nil
}

// goOn is the next program: it sends the last turns to the model, which wants a result for
// each call, and stores the answer.
func (t *tour) goOn(ctx context.Context, id string) error {
	window, err := slice.ResumeWindow(ctx, t.store, id, 25)
	if err != nil {
		return err
	}
	ready, err := accept.Fix(accept.Anthropic, window)
	if err != nil {
		return err
	}
	t.print("resume", "%d messages stored, %d sent to the model: %s", len(window), len(ready.Messages), ready.Amendments[0].Reasons[0])
	answer, err := sessionstore.Text("assistant", "I could not find out.", time.Now())
	if err != nil {
		return err
	}
	if err := t.store.Append(ctx, id, answer); err != nil {
		return err
	}
	return nil
}
