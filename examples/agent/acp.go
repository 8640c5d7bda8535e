package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/acp"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/slice"
)

type editor struct {
	acp.Sessions
	asks *model // nil: replies are made up
}

func serve(ctx context.Context, dir string, asks *model, in io.Reader, out io.Writer) error {
	all, err := projects.Open(dir, nil)
	if err != nil {
		return err
	}
	return errors.Join(acp.Serve(ctx, &editor{acp.Sessions{Projects: all, Name: "agent", Follow: true}, asks}, in, out), all.Close())
}

// Prompt answers as the command does. The prompt "list" calls a tool first.
func (e *editor) Prompt(ctx context.Context, t *acp.Turn) (proto.StopReason, error) {
	if e.asks != nil {
		return proto.StopReasonEndTurn, e.asks.answer(ctx, t, t.Store, t.ID, t.Cwd)
	}
	history, err := slice.ResumeWindow(ctx, t.Store, t.ID, 25)
	if err == nil && t.Prompt.Content() == "list" {
		err = list(ctx, t)
	}
	for word := range strings.SplitAfterSeq(answer(history, t.Prompt.Content()), " ") {
		err = errors.Join(err, t.Say(word))
	}
	return proto.StopReasonEndTurn, err
}

// list lists the files of the working directory, when the user allows it.
func list(ctx context.Context, t *acp.Turn) error {
	call := sessionstore.ToolCall{ID: "list", Name: toolName}
	row, err := sessionstore.ToolCallMessage("I look.", time.Now(), call)
	if err == nil {
		err = t.Step(ctx, row)
	}
	if err == nil {
		_, err = t.Call(ctx, call, lists(t.Cwd))
	}
	return err
}
