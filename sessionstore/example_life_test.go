package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func ExampleStore_Watch() {
	ctx, id := context.Background(), sessionstore.NewID()
	store, done := exampleStore(ctx, id)
	defer done()

	watcher, err := store.Watch(ctx) // before the first look, so that nothing is missed
	check(err)
	question, err := sessionstore.Text("user", "And tomorrow?", time.Now())
	check(err)
	check(store.Append(ctx, id, question)) // by this program, or by any other

	for change := range watcher.Changes() {
		if change.ID == id && change.File == "transcript.jsonl" {
			fmt.Println("more was said")
			break
		}
	}
	check(watcher.Close())
	// Output: more was said
}

func ExampleView_Turn() {
	ctx, id := context.Background(), sessionstore.NewID()
	store, done := exampleStore(ctx, id)
	defer done()

	view, err := store.View(ctx, id) // of a transcript of any size
	check(err)
	defer view.Close()
	messages, err := view.Turn(ctx, 1)
	check(err)
	for _, m := range messages {
		fmt.Println(m.Role()+":", m.Content())
	}
	_, err = view.Turn(ctx, 2)
	fmt.Println(errors.Is(err, sessionstore.ErrNotFound))
	// Output:
	// user: Will it rain?
	// assistant: No.
	// true
}

func ExampleStore_Acquire() {
	ctx, id := context.Background(), sessionstore.NewID()
	work, err := os.MkdirTemp("", "example-")
	check(err)
	defer os.RemoveAll(work)
	store, err := sessionstore.Open(filepath.Join(work, "sessions"), &sessionstore.Options{Workspace: work})
	check(err)
	defer store.Close()

	hold, err := store.Acquire(ctx, id, sessionstore.Owner{App: "my agent"})
	if errors.Is(err, errors.ErrUnsupported) { // there is no such lock on Windows
		fmt.Println("the session is ours")
		return
	}
	check(err) // errors.Is(err, sessionstore.ErrLocked): another host runs the session
	fmt.Println("the session is ours")
	check(hold.Release())
	// Output: the session is ours
}

func ExampleStore_Salvage() {
	ctx, id := context.Background(), sessionstore.NewID()
	store, done := exampleStore(ctx, id)
	defer done()
	for _, text := range []string{"And tomorrow?", "And on Sunday?"} {
		question, err := sessionstore.Text("user", text, time.Now())
		check(err)
		check(store.Append(ctx, id, question))
	}

	// A tool that writes in place is killed in the middle of a line.
	f, err := os.OpenFile(filepath.Join(store.Dir(), id, "transcript.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	check(err)
	_, err = f.WriteString(`{"role": "assis`)
	check(err)
	check(f.Close())

	session, err := store.Load(ctx, id) // reads the backup
	check(err)
	fmt.Println(len(session.Messages), "messages, and", session.Recovered.Beyond, "more in the damaged file")
	report, err := store.Salvage(ctx, id)
	check(err)
	fmt.Println("salvaged:", report.Rows)
	// Output:
	// 3 messages, and 1 more in the damaged file
	// salvaged: 1
}
