package hybrid_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/hybridtest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Two devices share a session by way of a remote; here it is one in memory.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "devices")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	r := hybridtest.New() // as cosmos.Connect or dir.Open return one
	open := func(device string) *hybrid.Store {
		st, err := hybrid.Open(ctx, filepath.Join(dir, device), &hybrid.Options{
			Remote: r, Project: "demo", User: "ada", Device: device,
			Manual: true, // sync only when asked, so that the example is the same each time
		})
		if err != nil {
			log.Fatal(err)
		}
		return st
	}

	laptop, desktop := open("laptop"), open("desktop")
	defer laptop.Close()
	defer desktop.Close()
	hello, err := sessionstore.Text("user", "hello", time.Time{})
	if err != nil {
		log.Fatal(err)
	}
	if err := laptop.Append(ctx, "greeting", hello); err != nil {
		log.Fatal(err)
	}
	sent, err := laptop.Sync(ctx)
	if err != nil {
		log.Fatal(err)
	}
	got, err := desktop.Pull(ctx)
	if err != nil {
		log.Fatal(err)
	}
	s, err := desktop.Load(ctx, "greeting")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("sent %d, fetched %d: %s\n", sent.Pushed, got.Pulled, s.Messages[0].Content())
	// Output: sent 1, fetched 1: hello
}

// A program goes on with a session that another device may have had last.
func ExampleStore_Refresh() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "device")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := hybrid.Open(ctx, dir, nil) // without a remote there is nothing to ask, which is no error
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	hello, err := sessionstore.Text("user", "hello", time.Time{})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Append(ctx, "greeting", hello); err != nil {
		log.Fatal(err)
	}

	if _, err := store.Refresh(ctx, "greeting"); err != nil {
		log.Print("going on with what is here: ", err)
	}
	s, err := store.Load(ctx, "greeting")
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Save(ctx, "greeting", append(s.Messages, hello), s.Metadata); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(s.Messages), "and one more")
	// Output: 1 and one more
}
