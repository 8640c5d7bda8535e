package trash_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// A session is moved to the trash, and brought back.
func Example() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	ctx := context.Background()
	question, err := sessionstore.Text("user", "Will it rain tomorrow?", time.Now())
	if err != nil {
		log.Fatal(err)
	}
	if err := st.Append(ctx, "forecast", question); err != nil {
		log.Fatal(err)
	}

	deleted, err := trash.Delete(ctx, st, []string{"forecast"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range deleted.Kept {
		fmt.Println("kept:", s.ID, s.Obstacles[0].Kind)
	}
	if _, err := trash.Delete(ctx, st, []string{"forecast"}, &trash.Options{Allow: []trash.Kind{trash.Recent}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("there:", st.Exists("forecast"))
	removals, err := trash.List(ctx, st) // the newest first
	if err != nil {
		log.Fatal(err)
	}
	restored, err := trash.Restore(ctx, st, removals[0], nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("restored:", restored.Sessions[0].ID)
	// Output:
	// kept: forecast recent
	// there: false
	// restored: forecast
}
