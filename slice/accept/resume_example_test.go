package accept_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// An agent goes on with a session. Its former process was killed while the user was asked
// about two calls.
func Example_resume() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	st, err := sessionstore.Open(dir, &sessionstore.Options{Workspace: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	killed(ctx, st, "release")

	// Nobody else runs the session until the turn is closed. A call that has no result is
	// asked about and runs, once, and its result is stored. A call that was rewound away is
	// not in the transcript, and does not run.
	t, err := turn.Resume(ctx, st, "release", &turn.Options{Approve: func(_ context.Context, call sessionstore.ToolCall) (agentstate.Verdict, error) {
		if call.ID == "c1" {
			return agentstate.Approved, nil
		}
		return agentstate.Undecided, nil // the user went away
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	calls, err := t.Calls(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, call := range calls {
		_, err := t.Call(ctx, call, func(_ context.Context, call sessionstore.ToolCall) (sessionstore.Message, error) {
			return sessionstore.ToolResult(call.ID, call.Name, "released", time.Time{})
		})
		if err != nil && !errors.Is(err, agentstate.ErrNotApproved) {
			log.Fatal(err)
		}
	}

	// The model gets the last turns, with a result for the call that never ran.
	history, err := slice.ResumeWindow(ctx, st, "release", 25)
	if err != nil {
		log.Fatal(err)
	}
	fixed, err := accept.Fix(accept.Anthropic, history)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("stored", len(history), "sent", len(fixed.Messages))
	for _, a := range fixed.Amendments {
		fmt.Println(a.Reasons)
	}
	// Output:
	// stored 3 sent 4
	// [call_without_result]
}

// killed leaves what a process leaves that ends while it asks about two calls.
func killed(ctx context.Context, st *sessionstore.Store, id string) {
	question, err := sessionstore.Text("user", "Test and release it.", time.Time{})
	if err != nil {
		log.Fatal(err)
	}
	calls, err := sessionstore.ToolCallMessage("", time.Time{},
		sessionstore.ToolCall{ID: "c1", Name: "bash", Arguments: json.RawMessage(`{"command": "make release"}`)},
		sessionstore.ToolCall{ID: "c2", Name: "bash", Arguments: json.RawMessage(`{"command": "make test"}`)})
	if err != nil {
		log.Fatal(err)
	}
	t, err := turn.Begin(ctx, st, id, question, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := t.Step(ctx, calls); err != nil {
		log.Fatal(err)
	}
	if err := t.Close(); err != nil { // as the end of the process does
		log.Fatal(err)
	}
}
