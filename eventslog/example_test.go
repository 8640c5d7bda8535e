package eventslog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
)

// noon is when everything happens.
func noon() time.Time { return time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC) }

// example returns a session's directory with a log of three events.
func example() (dir string, clean func()) {
	base, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	dir = filepath.Join(base, "session-1")
	l, err := eventslog.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	err = l.Append(context.Background(),
		eventslog.Event{Name: "session:start", Time: noon()},
		eventslog.Event{Name: "tool:post", Time: noon().Add(time.Second), Data: map[string]any{"tool": "bash"}},
		eventslog.Event{Name: "session:end", Time: noon().Add(time.Minute)},
	)
	if err != nil {
		log.Fatal(err)
	}
	return dir, func() { _ = os.RemoveAll(base) }
}

func ExampleLog_Append() {
	dir, clean := example()
	defer clean()
	l, err := eventslog.Open(dir, &eventslog.Options{Sync: true}) // on the disk when Append returns
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	err = l.Append(context.Background(), eventslog.Event{
		Name: "tool:error",
		Time: noon(),
		Data: json.RawMessage(`{"error": "no such file", "path": "/a<b"}`),
	})
	if err != nil {
		log.Fatal(err)
	}
	tail, err := l.Tail(context.Background(), 1)
	if err != nil {
		log.Fatal(err)
	}
	line, err := l.Open(context.Background(), tail[0])
	if err != nil {
		log.Fatal(err)
	}
	defer line.Close()
	if _, err := io.Copy(os.Stdout, line); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"ts": "2026-09-01T12:00:00+00:00", "lvl": "ERROR", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": "tool:error", "session_id": "session-1", "error": "no such file", "data": {"path": "/a<b"}}
}

func ExampleLog_Heads() {
	dir, clean := example()
	defer clean()
	l, err := eventslog.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	var cursor eventslog.Cursor // may be stored as its text
	for head, err := range l.Heads(context.Background(), cursor) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(head.Line, head.Time.Format(time.TimeOnly), head.Level, head.Event)
		cursor = head.Next
	}
	for range l.Heads(context.Background(), cursor) {
		fmt.Println("nothing is behind the last one")
	}
	// Output:
	// 1 12:00:00 INFO session:start
	// 2 12:00:01 INFO tool:post
	// 3 12:01:00 INFO session:end
}

func ExampleLog_At() {
	dir, clean := example()
	defer clean()
	l, err := eventslog.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	head, err := l.At(context.Background(), 2) // its bytes: l.Open
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(head.Line, head.Event)
	_, err = l.At(context.Background(), 4)
	fmt.Println(errors.Is(err, fs.ErrNotExist), err)
	// Output:
	// 2 tool:post
	// true read event: event 4 of 3: there is no such event
}

func ExampleLog_Follow() {
	dir, clean := example()
	defer clean()
	l, err := eventslog.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	var seen []string
	for head, err := range l.Follow(context.Background(), eventslog.Cursor{}) {
		if err != nil {
			log.Fatal(err)
		}
		if head.Rewritten { // forget all, what follows begins anew
			seen = nil
			continue
		}
		if seen = append(seen, head.Event); head.Event == "session:end" {
			break
		}
	}
	fmt.Println(seen)
	// Output: [session:start tool:post session:end]
}

func ExampleLog_Summary() {
	dir, clean := example()
	defer clean()
	l, err := eventslog.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	sum, err := l.Summary(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum.Total, sum.Types, sum.First, sum.Last)
	// Output: 3 map[session:end:1 session:start:1 tool:post:1] 2026-09-01T12:00:00+00:00 2026-09-01T12:01:00+00:00
}

func ExampleLog_SliceTo() {
	dir, clean := example()
	defer clean()
	l, err := eventslog.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	n, err := l.SliceTo(context.Background(), os.Stdout, noon(), "fork-1", "session-1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n.Events)
	// Output:
	// {"ts": "2026-09-01T12:00:00+00:00", "lvl": "INFO", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": "session:start", "session_id": "fork-1", "parent_session_id": "session-1"}
	// 1
}

// The log of the newer tools is in a directory of the session.
func ExampleOpenCapture() {
	dir, clean := example()
	defer clean()
	newer := filepath.Join(dir, "context-intelligence")
	if err := os.Mkdir(newer, 0o700); err != nil {
		log.Fatal(err)
	}
	line := `{"event": "llm:response", "timestamp": "2026-09-01T12:00:05Z", "session_id": "session-1"}` + "\n"
	if err := os.WriteFile(filepath.Join(newer, "events.jsonl"), []byte(line), 0o600); err != nil {
		log.Fatal(err)
	}
	l, err := eventslog.OpenCapture(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for head, err := range l.Heads(context.Background(), eventslog.Cursor{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(head.SessionID, head.Event)
	}
	fmt.Println(l.Append(context.Background(), eventslog.Event{Name: "mine"}))
	// Output:
	// session-1 llm:response
	// append events: log of another writer: unsupported operation
}
