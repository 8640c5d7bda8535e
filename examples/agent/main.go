// Agent is a small agent that keeps its sessions with this library. It goes on with
// a session or begins one, asks and answers, shows what is written meanwhile, by
// itself and by others, forks the session, and sends both to other devices where
// COSMOS_ENDPOINT and COSMOS_KEY name an account.
//
//	go run ./examples/agent [-id SESSION] [-dir DIR] QUESTION
//
// It calls no model: answer makes up what one would say.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func main() {
	dir := flag.String("dir", "", "sessions directory (default: that of the working directory)")
	id := flag.String("id", sessionstore.NewID(), "session to go on with (default: a new one)")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *dir, *id, strings.Join(flag.Args(), " ")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, dir, id, question string) (err error) {
	options := &hybrid.Options{User: os.Getenv("USER"), Project: "agent", Redact: hybrid.Secrets()}
	if config, ok := hybrid.ConfigFromEnv(); ok {
		if options.Container, err = hybrid.Connect(ctx, config, nil, nil); err != nil {
			return err
		}
	}
	store, err := hybrid.Open(ctx, dir, options) // without a container it is a local store
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }() // sends what is left

	watcher, err := store.Watch(ctx)
	if err != nil {
		return err
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		for change := range watcher.Changes() { // until the watcher is closed
			log.Print("changed: ", change.ID, " ", change.File)
		}
	}()
	defer func() { err = errors.Join(err, watcher.Close()); <-shown }()

	if options.Container != nil {
		_, err := store.Refresh(ctx, id) // takes what other devices added
		if err != nil && !errors.Is(err, sessionstore.ErrNotFound) {
			log.Print(err)
		}
	}
	history, err := slice.ResumeWindow(ctx, store.Store, id, 25) // the last turns, of a session of any size
	if err != nil && !errors.Is(err, sessionstore.ErrNotFound) {
		return err
	}
	asked, err := sessionstore.Text("user", question, time.Now())
	if err != nil {
		return err
	}
	answered, err := sessionstore.Text("assistant", answer(history, question), time.Now())
	if err != nil {
		return err
	}
	if err := store.Append(ctx, id, asked, answered); err != nil { // on the disk when it returns
		return err
	}
	fork, err := slice.Fork(ctx, store.Store, id, nil) // to try something else from here
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n\ngo on:          agent -id %s\nanother answer: agent -id %s\n", answered.Content(), id, fork.ID)
	return nil
}

// answer stands in for a model.
func answer(history []sessionstore.Message, question string) string {
	return fmt.Sprintf("You asked %q; I know %d messages before that.", question, len(history))
}
