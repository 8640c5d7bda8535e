package slice_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// exampleStore opens a store in a new directory with one session, of which the
// last call of a tool has no result.
func exampleStore() (st *sessionstore.Store, done func()) {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	st, err = sessionstore.Open(filepath.Join(dir, "sessions"), nil)
	if err != nil {
		log.Fatal(err)
	}
	err = st.Append(context.Background(), "weather", conversationOf(
		`{"role": "user", "content": "Is it raining?"}`,
		`{"role": "assistant", "content": "No."}`,
		`{"role": "user", "content": "Sure?"}`,
		`{"role": "assistant", "tool_calls": [{"id": "call_1", "tool": "look"}]}`,
	)...)
	if err != nil {
		log.Fatal(err)
	}
	return st, func() {
		if err := st.Close(); err != nil {
			log.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			log.Fatal(err)
		}
	}
}

func ExampleFork() {
	st, done := exampleStore()
	defer done()
	ctx := context.Background()
	p, err := slice.PreviewFork(ctx, st, "weather", new(1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Messages, "messages of", p.MaxTurns, "turns, up to:", p.LastAssistant)
	f, err := slice.Fork(ctx, st, "weather", &slice.ForkOptions{Events: true, Turn: new(1), NewID: "again"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.ID, "from turn", f.Turn, "of", f.ParentID)
	l, err := slice.Trace(ctx, st, "again")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Ancestors)
	// Output:
	// 2 messages of 2 turns, up to: No.
	// again from turn 1 of weather
	// [weather]
}

// A program goes on with a long session: the model is given the last turns, and
// what is new is appended.
func ExampleResumeWindow() {
	st, done := exampleStore()
	defer done()
	ctx := context.Background()
	history, err := slice.ResumeWindow(ctx, st, "weather", 1)
	if err != nil {
		log.Fatal(err)
	}
	turn := conversationOf(
		`{"role": "tool", "tool_call_id": "call_1", "content": "Sun."}`,
		`{"role": "assistant", "content": "Sure."}`,
	)
	if err := st.Append(ctx, "weather", turn...); err != nil {
		log.Fatal(err)
	}
	s, err := st.Load(ctx, "weather")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(history), "messages for the model,", len(s.Messages), "in the session")
	err = st.Save(ctx, "weather", append(history, turn...), sessionstore.Metadata{})
	fmt.Println("saved as a whole:", errors.Is(err, sessionstore.ErrWindow))
	// Output:
	// 2 messages for the model, 6 in the session
	// saved as a whole: true
}

func ExampleRepairSession() {
	st, done := exampleStore()
	defer done()
	ctx := context.Background()
	r, err := slice.RepairSession(ctx, st, "weather")
	if err != nil {
		log.Fatal(err)
	}
	counts, err := json.Marshal(r.Counts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Status, r.Verification.Status, string(counts))

	list, err := slice.Backups(ctx, st, "weather")
	if err != nil {
		log.Fatal(err)
	}
	u, err := slice.Undo(ctx, st, "weather", list[0].Name, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(u.Status, u.Messages)
	// Output:
	// repaired healthy {"original_entries":4,"repaired_entries":6}
	// undone 4
}

func ExampleRewindSession() {
	st, done := exampleStore()
	defer done()
	r, err := slice.RewindSession(context.Background(), st, "weather")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Status, r.Original, r.Rewound)
	// Output: rewound 4 2
}
