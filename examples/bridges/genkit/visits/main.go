// Visits keeps the state of a Genkit session in a session directory: each run
// adds a visit to it.
//
//	go run ./visits DIR [SESSION]
//
// Without SESSION a new one is made. Its id is printed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/firebase/genkit/go/core/x/session"

	"github.com/amplifier-go/sessionstorage/examples/bridges/genkit"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type state struct{ Visits int }

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "visits:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	if len(args) < 1 || len(args) > 2 {
		return errors.New("usage: visits DIR [SESSION]")
	}
	store, err := sessionstore.Open(args[0], nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	states := genkit.New[state](store)
	var s *session.Session[state]
	if len(args) == 2 {
		s, err = session.Load(ctx, states, args[1])
	} else {
		s, err = session.New(ctx, session.WithStore(states), session.WithInitialState(state{}))
	}
	if err != nil {
		return err
	}
	now := state{s.State().Visits + 1}
	if err := s.UpdateState(ctx, now); err != nil {
		return err
	}
	fmt.Fprintln(out, s.ID(), now.Visits)
	return nil
}
