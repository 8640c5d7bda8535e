package main

import (
	"context"
	"errors"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
)

// agent has a turn, and the rows of it.
type agent struct {
	*turn.Turn
	st                   *sessionstore.Store
	prompt, step, result sessionstore.Message
}

// part is what an agent does in a turn.
type part func(ctx context.Context, a *agent) error

func begin(ctx context.Context, a *agent) (err error) {
	a.Turn, err = turn.Begin(ctx, a.st, session, a.prompt, nil)
	return err
}

func call(ctx context.Context, a *agent) error {
	run := func(context.Context, sessionstore.ToolCall) (sessionstore.Message, error) { return a.result, nil }
	_, err := a.Call(ctx, sessionstore.ToolCall{ID: "c1"}, run)
	return err
}

func resume(ctx context.Context, a *agent) (err error) {
	a.Turn, err = turn.Resume(ctx, a.st, session, nil)
	return err
}

func ask(ctx context.Context, a *agent) error { return a.Step(ctx, a.step) }
func end(ctx context.Context, a *agent) error { return errors.Join(a.Say("the answer"), a.End(ctx)) }
func leave(_ context.Context, a *agent) error { return a.Close() }

// turning is the journey of the part do, after those before it.
func turning(do part, before ...part) func(context.Context, *sessionstore.Store) (func() error, error) {
	return func(ctx context.Context, st *sessionstore.Store) (func() error, error) {
		a, errs := &agent{st: st}, [3]error{}
		a.prompt, errs[0] = sessionstore.Text("user", "ask", time.Time{})
		a.step, errs[1] = sessionstore.ToolCallMessage("", time.Time{}, sessionstore.ToolCall{ID: "c1", Name: "bash"})
		a.result, errs[2] = sessionstore.ToolResult("c1", "bash", "ran", time.Time{})
		err := errors.Join(errs[:]...)
		for _, do := range before {
			err = errors.Join(err, do(ctx, a))
		}
		return func() error { return do(ctx, a) }, err
	}
}
