package turn_test

import (
	"context"
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

// The whole loop of an agent. The same loop answers a new prompt and goes on with a turn that
// a kill interrupted.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sessions")
	check(err)
	defer os.RemoveAll(dir)
	st, err := sessionstore.Open(dir, nil)
	check(err)
	defer st.Close()
	prompt, err := sessionstore.Text("user", "Release it.", time.Now())
	check(err)

	t, err := turn.Resume(ctx, st, "release", &turn.Options{Approve: ask})
	if errors.Is(err, turn.ErrNoTurn) || errors.Is(err, sessionstore.ErrNotFound) {
		t, err = turn.Begin(ctx, st, "release", prompt, &turn.Options{Approve: ask})
	}
	check(err)
	defer t.Close() // after an error below, Resume goes on another time
	for {
		calls, err := t.Calls(ctx)
		check(err)
		for _, call := range calls {
			_, err := t.Call(ctx, call, run) // asks, and stores the result
			check(err)
		}
		window, err := slice.ResumeWindow(ctx, st, "release", 25)
		check(err)
		ready, err := accept.Fix(accept.Anthropic, window)
		check(err)
		row, answered := model(ready.Messages, t.Say)
		if answered {
			break
		}
		check(t.Step(ctx, row)) // stores the row that makes calls
	}
	check(t.End(ctx)) // stores what was said
	for m, err := range st.Messages(ctx, "release") {
		check(err)
		fmt.Println(m.Role(), m.Content())
	}
	// Output:
	// user Release it.
	// assistant I run the release.
	// tool released
	// assistant It is released.
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// ask takes the place of a user who is asked.
func ask(context.Context, sessionstore.ToolCall) (agentstate.Verdict, error) {
	return agentstate.Approved, nil
}

// run takes the place of the tools.
func run(_ context.Context, call sessionstore.ToolCall) (sessionstore.Message, error) {
	return sessionstore.ToolResult(call.ID, call.Name, "released", time.Now())
}

// model takes the place of a model that streams. It returns a row that makes calls, or
// reports that it answered.
func model(sent []sessionstore.Message, say func(piece string) error) (row sessionstore.Message, answered bool) {
	if last := sent[len(sent)-1]; last.Role() == "tool" {
		check(say("It is "))
		check(say(last.Content() + "."))
		return row, true
	}
	row, err := sessionstore.ToolCallMessage("I run the release.", time.Now(), sessionstore.ToolCall{ID: "call_1", Name: "bash", Arguments: []byte(`{"command": "make release"}`)})
	check(err)
	return row, false
}
