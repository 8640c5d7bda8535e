package dir_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Two devices share a session by way of a directory, as of a file server.
func Example() {
	ctx := context.Background()
	top, err := os.MkdirTemp("", "devices")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(top)
	place := filepath.Join(top, "remote")
	if err := dir.Provision(ctx, place); err != nil { // once
		log.Fatal(err)
	}
	remote, err := dir.Open(ctx, place)
	if err != nil {
		log.Fatal(err)
	}
	defer remote.Close()
	open := func(device string) *hybrid.Store {
		st, err := hybrid.Open(ctx, filepath.Join(top, device), &hybrid.Options{
			Remote: remote, Project: "demo", User: "ada", Device: device,
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
	if _, err := laptop.Sync(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := desktop.Pull(ctx); err != nil {
		log.Fatal(err)
	}
	session, err := desktop.Load(ctx, "greeting")
	fmt.Println(len(session.Messages), err)
	// Output: 1 <nil>
}
