package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
)

// A session is carried from one store to another.
func Example() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	here, err := sessionstore.Open(filepath.Join(dir, "here"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer here.Close()
	there, err := sessionstore.Open(filepath.Join(dir, "there"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer there.Close()
	ctx := context.Background()
	question, err := sessionstore.Text("user", "Will it rain tomorrow?", time.Now())
	if err != nil {
		log.Fatal(err)
	}
	if err := here.Append(ctx, "forecast", question); err != nil {
		log.Fatal(err)
	}

	var packed bytes.Buffer
	if err := archive.Write(ctx, &packed, here, []string{"forecast"}, nil); err != nil {
		log.Fatal(err)
	}
	sessions, err := archive.Read(ctx, &packed, there, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range sessions {
		fmt.Println(s.ID, s.Messages)
	}
	// Output:
	// forecast 1
}

// A line that is no message is named, and nothing is made.
func ExampleLineError() {
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

	rows := "{\"role\": \"user\", \"content\": \"hello\"}\n{\"event\": \"session:start\"}\n"
	_, err = archive.Read(context.Background(), strings.NewReader(rows), st, nil)
	bad := (*archive.LineError)(nil)
	if errors.As(err, &bad) {
		fmt.Println(bad.Line, bad.Err)
	}
	// Output:
	// 2 it has no "role"
}
