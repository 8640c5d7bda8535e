package workload

import (
	"context"
	"fmt"
	"strings"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// log appends one to three events a call.
func (c *client) log(ctx context.Context, id string, n int) error {
	l, err := eventslog.Open(c.path()+"/"+id, &eventslog.Options{Sync: c.mode != "relaxed"})
	if err != nil {
		return err
	}
	at := 0
	for range n {
		var events []eventslog.Event
		for range 1 + c.n(3) {
			events = append(events, eventslog.Event{
				Name: "x:y",
				Data: map[string]any{"k": fmt.Sprintf("%s-e%d", id, at), "pad": strings.Repeat("z", c.n(3000))},
			})
			at++
		}
		c.call(ctx, c.subject(id, history.Events), "events", func() error { return l.Append(ctx, events...) })
	}
	return l.Close()
}

func (c *client) logs(ctx context.Context, id string, n int) error {
	c.session(ctx, id, "create", func() error { return c.st.Create(ctx, id, metadata(0)) })
	return c.log(ctx, id, n)
}

// withEvents makes a call that changes a session and its events.
func (c *client) withEvents(ctx context.Context, id, kind string, do func() error) {
	c.call(ctx, c.subject(id, history.Events), kind, func() (err error) {
		c.session(ctx, id, kind, func() error { err = do(); return err })
		return err
	})
}

func (c *client) forks(ctx context.Context, id string, n int) error {
	msgs := c.messages(id, 0, 8)
	c.session(ctx, id, "save", func() error { return c.st.Save(ctx, id, msgs, metadata(1)) })
	if err := c.log(ctx, id, 3); err != nil {
		return err
	}
	c.appends(ctx, id, 2)
	for i := range n {
		fork := fmt.Sprintf("%s-f%d", id, i)
		o := &slice.ForkOptions{Turn: new(1 + c.n(4)), NewID: fork}
		c.withEvents(ctx, fork, "fork", func() error {
			_, err := slice.Fork(ctx, c.st, id, o)
			return err
		})
	}
	return nil
}

// rewinds cuts a session turn by turn, undoes each second cut, and makes each fourth again.
func (c *client) rewinds(ctx context.Context, id string, n int) error {
	msgs := c.messages(id, 0, 2*n+4)
	c.session(ctx, id, "save", func() error { return c.st.Save(ctx, id, msgs, metadata(1)) })
	if err := c.log(ctx, id, 3); err != nil {
		return err
	}
	for i := range n {
		c.withEvents(ctx, id, "rewind", func() error {
			_, err := slice.RewindSessionTo(ctx, c.st, id, n+1-i, slice.Complete)
			return err
		})
		if i%2 == 0 {
			c.undo(ctx, id)
		}
		if i%4 == 2 {
			c.redo(ctx, id)
		}
	}
	c.appends(ctx, id, 2)
	return nil
}

// undo takes back the last rewind or repair.
func (c *client) undo(ctx context.Context, id string) {
	c.withEvents(ctx, id, "undo", func() error {
		_, err := slice.Undo(ctx, c.st, id, "", &slice.UndoOptions{Force: true})
		return err
	})
}

// redo makes the change again that was taken back last.
func (c *client) redo(ctx context.Context, id string) {
	c.withEvents(ctx, id, "redo", func() error {
		_, err := slice.Redo(ctx, c.st, id)
		return err
	})
}

// repairs breaks a session and repairs it.
func (c *client) repairs(ctx context.Context, id string, n int) {
	for i := range n {
		id := fmt.Sprintf("%s%d", id, i)
		msgs := append(c.messages(id, 0, 3), toolCall(id))
		msgs = append(msgs, c.message("user", id+"-next"))
		c.session(ctx, id, "save", func() error { return c.st.Save(ctx, id, msgs, metadata(i)) })
		c.session(ctx, id, "repair", func() error {
			_, err := slice.RepairSession(ctx, c.st, id)
			return err
		})
		c.undo(ctx, id)
	}
}

// toolCall is a call that has no result.
func toolCall(id string) sessionstore.Message {
	m, err := sessionstore.NewMessage(map[string]any{
		"role": "assistant", "content": id + "-call",
		"tool_calls": []any{map[string]any{"id": "t1", "tool": "bash", "arguments": map[string]any{}}},
	})
	if err != nil {
		panic(err) // unreachable: it is valid
	}
	return m
}
