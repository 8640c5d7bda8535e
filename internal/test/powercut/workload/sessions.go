package workload

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// appends adds one to six messages a call.
func (c *client) appends(ctx context.Context, id string, n int) {
	for i := range n {
		msgs := []sessionstore.Message{c.message("user", fmt.Sprintf("%s-a%d", id, i))}
		if c.n(3) == 0 {
			for k := range 1 + c.n(5) {
				msgs = append(msgs, c.message("assistant", fmt.Sprintf("%s-a%d-%d", id, i, k)))
			}
		}
		c.session(ctx, id, "append", func() error { return c.st.Append(ctx, id, msgs...) })
	}
}

// saves replaces the whole transcript each time.
func (c *client) saves(ctx context.Context, id string, n int) {
	for i := range n {
		msgs := c.messages(id, i, 2+c.n(8))
		c.session(ctx, id, "save", func() error { return c.st.Save(ctx, id, msgs, metadata(i)) })
	}
}

func (c *client) creates(ctx context.Context, id string, n int) {
	for i := range n {
		id := fmt.Sprintf("%s%d", id, i)
		c.session(ctx, id, "create", func() error { return c.st.Create(ctx, id, metadata(i)) })
		if c.n(2) == 0 {
			c.appends(ctx, id, 1)
		}
	}
}

func (c *client) updates(ctx context.Context, id string, n int) {
	c.session(ctx, id, "create", func() error { return c.st.Create(ctx, id, metadata(0)) })
	for i := range n {
		c.update(ctx, id, i+1)
	}
}

func (c *client) update(ctx context.Context, id string, n int) {
	pad := strings.Repeat("y", c.n(5000))
	c.session(ctx, id, "update", func() error {
		_, err := c.st.UpdateMetadata(ctx, id, func(md *sessionstore.Metadata) error {
			if err := md.Set("pad", pad); err != nil {
				return err
			}
			return md.Set("n", n)
		})
		return err
	})
}

func (c *client) deletes(ctx context.Context, id string, n int) {
	for i := range n {
		id := fmt.Sprintf("%s%d", id, i)
		msgs := c.messages(id, 0, 3)
		c.session(ctx, id, "save", func() error { return c.st.Save(ctx, id, msgs, metadata(i)) })
		c.session(ctx, id, "delete", func() error { return c.st.Delete(ctx, id) })
	}
}

// group appends from four goroutines at once.
func (c *client) group(ctx context.Context, id string, n int) {
	s := c.subject(id, history.Session)
	s.Group = true
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range n {
				k := fmt.Sprintf("%s-%d-%d", id, g, i)
				m := c.message("user", k)
				c.Notebook.group(s, "group", []string{k}, func() error { return c.st.Append(ctx, id, m) })
			}
		})
	}
	wg.Wait()
}

// mixed makes one kind of call after another on one session.
func (c *client) mixed(ctx context.Context, id string, n int) error {
	var msgs []sessionstore.Message
	for i := range n {
		switch c.n(5) {
		case 0, 1:
			m := c.message("user", fmt.Sprintf("%s-m%d", id, i))
			if c.session(ctx, id, "append", func() error { return c.st.Append(ctx, id, m) }) {
				msgs = append(msgs, m)
			}
		case 2:
			msgs = append(msgs, c.message("assistant", fmt.Sprintf("%s-m%d", id, i)))
			c.session(ctx, id, "extend", func() error { return c.st.Save(ctx, id, msgs, metadata(i)) })
		case 3:
			msgs = c.messages(id, i, 1+c.n(6))
			c.session(ctx, id, "save", func() error { return c.st.Save(ctx, id, msgs, metadata(i)) })
		case 4:
			if len(msgs) > 0 {
				c.update(ctx, id, i)
			}
			if err := c.reopen(); err != nil {
				return err
			}
		}
	}
	return nil
}
