package agentstate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
)

func Example() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	if err := st.Create(ctx, "demo", sessionstore.Metadata{}); err != nil {
		log.Fatal(err)
	}
	state, err := agentstate.Open(st, "demo", nil)
	if err != nil {
		log.Fatal(err)
	}
	s := agentstate.NewSession(state)
	defer s.Close()
	if err := s.StartTurn(); err != nil {
		log.Fatal(err)
	}
	if err := s.AddItems(ctx, json.RawMessage(`{"role": "user"}`)); err != nil {
		log.Fatal(err)
	}
	if err := s.AddTokenUsage(ctx, 12); err != nil {
		log.Fatal(err)
	}
	history, err := s.State.History(ctx)
	if err != nil {
		log.Fatal(err)
	}
	turn, _ := s.Runtime.Turn()
	fmt.Printf("%s, turn %d, %d tokens\n", history[0], turn.Number, turn.Tokens)
	// Output: {"role": "user"}, turn 1, 12 tokens
}

// A call that the user approved before a restart runs once after it.
func ExampleState_Claim() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	if err := st.Create(ctx, "demo", sessionstore.Metadata{}); err != nil {
		log.Fatal(err)
	}
	state, err := agentstate.Open(st, "demo", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer state.Close()
	call := json.RawMessage(`{"tool": "bash", "command": "make release"}`)
	if err := state.KeepPending(ctx, "1", call); err != nil {
		log.Fatal(err)
	}
	if err := state.Decide(ctx, "1", agentstate.Approved); err != nil {
		log.Fatal(err)
	}
	fmt.Println(state.Claim(ctx, "1", json.RawMessage(`{"tool": "bash", "command": "rm -r /"}`)))
	fmt.Println(state.Claim(ctx, "1", call))
	fmt.Println(state.Claim(ctx, "1", call))
	// Output:
	// claim approval: approval is for another call
	// <nil>
	// claim approval: call ran already
}

// A program keeps a small value of its own beside a session.
func ExampleState_SetValue() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	if err := st.Create(ctx, "demo", sessionstore.Metadata{}); err != nil {
		log.Fatal(err)
	}
	state, err := agentstate.Open(st, "demo", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer state.Close()
	if err := state.SetValue(ctx, "cart", json.RawMessage(`{"items": ["tea"]}`)); err != nil {
		log.Fatal(err)
	}
	value, err := state.Value(ctx, "cart")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(value))
	// Output: {"items": ["tea"]}
}
