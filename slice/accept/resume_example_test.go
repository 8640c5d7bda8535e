package accept_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// An agent goes on with a session. Its former process was killed after the user had
// approved one of two calls, and before any of them ran.
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

	// Nobody else runs the session for as long as this process does.
	hold, err := st.Acquire(ctx, "release", sessionstore.Owner{App: "example"})
	if errors.Is(err, errors.ErrUnsupported) { // Windows has no such lock
		hold, err = &sessionstore.Hold{}, nil
	}
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Release()

	// A call that has no result and that the user approved runs now, once, and its result is
	// stored. A call that was rewound away is not in the transcript, and does not run.
	state, err := agentstate.Open(st, "release", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer state.Close()
	history, err := slice.ResumeWindow(ctx, st, "release", 25)
	if err != nil {
		log.Fatal(err)
	}
	waiting := slice.OrphanedToolCalls(history)
	for _, m := range history {
		for _, call := range m.ToolCalls() {
			if !slices.Contains(waiting, call.ID) || state.Claim(ctx, call.ID, call.Arguments) != nil {
				continue // it has a result, or it ran, or nobody approved it
			}
			result, err := sessionstore.ToolResult(call.ID, call.Name, "released", time.Time{})
			if err != nil {
				log.Fatal(err)
			}
			if err := st.Append(ctx, "release", result); err != nil {
				log.Fatal(err)
			}
		}
	}

	// The model gets the last turns, with a result for the call that never ran.
	history, err = slice.ResumeWindow(ctx, st, "release", 25)
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

// killed leaves what a process leaves that is killed while it waits for the user.
func killed(ctx context.Context, st *sessionstore.Store, id string) {
	question, err := sessionstore.Text("user", "Test and release it.", time.Time{})
	if err != nil {
		log.Fatal(err)
	}
	approved := json.RawMessage(`{"command": "make release"}`)
	calls, err := sessionstore.ToolCallMessage("", time.Time{},
		sessionstore.ToolCall{ID: "c1", Name: "bash", Arguments: approved},
		sessionstore.ToolCall{ID: "c2", Name: "bash", Arguments: json.RawMessage(`{"command": "make test"}`)})
	if err != nil {
		log.Fatal(err)
	}
	if err := st.Append(ctx, id, question, calls); err != nil {
		log.Fatal(err)
	}
	state, err := agentstate.Open(st, id, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer state.Close()
	if err := state.KeepPending(ctx, "c1", approved); err != nil {
		log.Fatal(err)
	}
	if err := state.Decide(ctx, "c1", agentstate.Approved); err != nil {
		log.Fatal(err)
	}
}
