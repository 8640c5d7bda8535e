package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/checkpoint"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

func (c *client) configs(ctx context.Context, id string, n int) error {
	for i := range n {
		config, err := sessionstore.NewMetadata(map[string]any{"a": strings.Repeat("c", c.n(6000)), "k": fmt.Sprintf("c%d", i), "z": "end"})
		if err != nil {
			return err
		}
		c.call(ctx, c.subject(id, history.Config), "config", func() error { return c.st.SaveConfig(ctx, id, config) })
	}
	return nil
}

// agents keeps approvals and claims them, and records items between.
func (c *client) agents(ctx context.Context, id string, n int) error {
	c.session(ctx, id, "create", func() error { return c.st.Create(ctx, id, metadata(0)) })
	s, err := agentstate.Open(c.st, id, nil)
	if err != nil {
		return err
	}
	subject := c.subject(id, history.Agent)
	for i := range n {
		name, call := fmt.Sprintf("%s-p%d", id, i), json.RawMessage(fmt.Sprintf(`{"tool": %d}`, i))
		c.call(ctx, subject, "keep", func() error { return s.KeepPending(ctx, name, call) })
		c.call(ctx, subject, "decide", func() error { return s.Decide(ctx, name, agentstate.Approved) })
		c.call(ctx, subject, "claim", func() error { return s.Claim(ctx, name, call) })
		c.call(ctx, subject, "items", func() error {
			return s.RecordItems(ctx, json.RawMessage(fmt.Sprintf(`{"role": "user", "k": "%s-i%d"}`, id, i)))
		})
	}
	return s.Close()
}

// ErrTwice is returned when a claimed call could be claimed again.
var ErrTwice = errors.New("call was claimed twice")

func (c *client) workflows(ctx context.Context, id string, n int) {
	c.session(ctx, id, "create", func() error { return c.st.Create(ctx, id, metadata(0)) })
	log := workflow.New(c.st)
	for i := range n {
		output := fmt.Sprintf("%s-w%d %s", id, i, strings.Repeat("o", c.n(4000)))
		p := workflow.PhaseOutput{SessionID: &id, PhaseID: fmt.Sprintf("p%d", i), PhaseName: "Phase", Status: "completed", Output: &output}
		c.call(ctx, c.subject(id, history.Workflow), "workflow", func() error {
			_, err := log.SavePhaseOutput(ctx, id, p)
			return err
		})
	}
}

func (c *client) checkpoints(ctx context.Context, id string) error {
	dir := filepath.Join(c.path(), id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	subject := c.subject(id, history.Checkpoint)
	var s *checkpoint.Run
	if !c.call(ctx, subject, "checkpoint-create", func() (err error) {
		s, err = checkpoint.New(&checkpoint.Options{Durability: durability[c.mode], TempDir: c.path()}).Create(ctx, dir, checkpoint.Setup{Chapters: 4})
		return err
	}) {
		return nil
	}
	for phase := range 7 {
		outputs := map[string]any{"research_structure": strings.Repeat("r", c.n(5000))}
		c.call(ctx, subject, "checkpoint", func() error { return s.Checkpoint(ctx, phase+1, outputs) })
	}
	return nil
}

// cleanups removes sessions that are old, and leaves others.
func (c *client) cleanups(ctx context.Context, id string, n int) error {
	old := time.Now().AddDate(0, 0, -100)
	for i := range n {
		gone, stays := fmt.Sprintf("%s%d-old", id, i), fmt.Sprintf("%s%d-new", id, i)
		for _, id := range []string{gone, stays} {
			msgs := c.messages(id, 0, 2)
			c.session(ctx, id, "save", func() error { return c.st.Save(ctx, id, msgs, metadata(i)) })
		}
		if err := os.Chtimes(filepath.Join(c.path(), gone), old, old); err != nil {
			return err
		}
		c.session(ctx, gone, "cleanup", func() error {
			_, err := c.st.Cleanup(ctx, 30)
			return err
		})
	}
	return nil
}
