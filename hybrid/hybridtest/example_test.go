package hybridtest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/hybridtest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// A program is tested without a network: what it wrote is sent by its next run.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "device")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	r := hybridtest.New()
	open := func() *hybrid.Store {
		store, err := hybrid.Open(ctx, dir, &hybrid.Options{Remote: r, Project: "demo", Manual: true})
		if err != nil {
			log.Fatal(err)
		}
		return store
	}
	hello, err := sessionstore.Text("user", "hello", time.Time{})
	if err != nil {
		log.Fatal(err)
	}

	r.Cut()
	store := open()
	if err := store.Append(ctx, "greeting", hello); err != nil {
		log.Fatal(err)
	}
	_, err = store.Sync(ctx)
	fmt.Println(errors.Is(err, hybrid.ErrUnreachable))
	if err := store.Close(); err != nil {
		log.Fatal(err)
	}

	r.Mend()
	store = open() // the program runs again
	defer store.Close()
	sent, err := store.Sync(ctx)
	fmt.Println(sent.Pushed, err)
	// Output:
	// true
	// 1 <nil>
}
