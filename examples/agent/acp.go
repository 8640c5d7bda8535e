package main

import (
	"context"
	"errors"
	"io"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/acp"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

type editor struct {
	acp.Sessions
	asks *model
}

func serve(ctx context.Context, dir string, asks *model, in io.Reader, out io.Writer) error {
	all, err := projects.Open(dir, nil)
	if err != nil {
		return err
	}
	return errors.Join(acp.Serve(ctx, &editor{acp.Sessions{Projects: all, Name: "agent", Follow: true}, asks}, in, out), all.Close())
}

// Prompt answers as the command does.
func (e *editor) Prompt(ctx context.Context, t *acp.Turn) (proto.StopReason, error) {
	return proto.StopReasonEndTurn, e.asks.answer(ctx, t, t.Store, t.ID, t.Cwd)
}
