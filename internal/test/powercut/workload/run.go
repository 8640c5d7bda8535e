package workload

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
)

// Run calls everything below root, scale times as often: in a quiet round and,
// if loud, in a second one beside neighbours.
func (b *Notebook) Run(ctx context.Context, root string, scale int, loud bool) error {
	err := b.round(ctx, root, "quiet", scale)
	if err == nil && loud {
		err = b.loud(ctx, root, scale)
	}
	return errors.Join(err, b.Err())
}

func (b *Notebook) loud(ctx context.Context, root string, scale int) error {
	quiet, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var err error
	wg.Go(func() { err = b.neighbours(quiet, root) })
	rerr := b.round(ctx, root, "loud", scale)
	stop()
	wg.Wait()
	return errors.Join(rerr, err)
}

func (b *Notebook) round(ctx context.Context, root, name string, scale int) error {
	for _, mode := range []string{"renamed", "synced"} {
		s := history.Subject{Mode: mode, Dir: name + "-" + mode, ID: "c", View: history.Session}
		if err := b.control(ctx, root, s, mode == "synced", 10*scale); err != nil {
			return err
		}
	}
	if err := b.turns(ctx, root, name+"-turns", 10*scale); err != nil {
		return err
	}
	for _, mode := range []string{"durable", "relaxed"} {
		dir := fmt.Sprintf("%s-%s/projects/p/sessions", name, mode)
		c, err := b.client(root, dir, mode)
		if err != nil {
			return err
		}
		if err := errors.Join(c.all(ctx, scale), c.st.Close()); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

// all makes every kind of call, one after another in any order, and then some
// of them at once, so that more is under way at a cut.
func (c *client) all(ctx context.Context, k int) error {
	none := func(f func()) func() error { return func() error { f(); return nil } }
	list := []func() error{
		none(func() { c.appends(ctx, "append", 12*k) }),
		none(func() { c.saves(ctx, "save", 6*k) }),
		none(func() { c.creates(ctx, "create", 4*k) }),
		none(func() { c.updates(ctx, "meta", 6*k) }),
		none(func() { c.deletes(ctx, "del", 3*k) }),
		none(func() { c.group(ctx, "group", 3*k) }),
		none(func() { c.repairs(ctx, "repair", 2*k) }),
		none(func() { c.workflows(ctx, "flow", 5*k) }),
		func() error { return c.forks(ctx, "fork", 3*k) },
		func() error { return c.rewinds(ctx, "rewind", 4*k) },
		func() error { return c.logs(ctx, "log", 8*k) },
		func() error { return c.configs(ctx, "config", 4*k) },
		func() error { return c.agents(ctx, "agent", 3*k) },
		func() error { return c.checkpoints(ctx, "study") },
		func() error { return c.cleanups(ctx, "clean", 2*k) },
		func() error { return c.mixed(ctx, "mixed", 12*k) },
	}
	if c.mode == "durable" {
		list = append(list,
			func() error { return c.archives(ctx, "archive", 2*k) },
			func() error { return c.clouds(ctx, 16*k) },
			func() error { return c.shares(ctx, 8*k) },
		)
	}
	for _, i := range c.shuffled(len(list)) {
		if err := list[i](); err != nil {
			return err
		}
	}
	return c.crowd(ctx, k)
}

func (b *Notebook) shuffled(n int) []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rng.Perm(n)
}

func (c *client) crowd(ctx context.Context, k int) error {
	errs := make([]error, 7)
	var wg sync.WaitGroup
	for i, do := range []func(c *client, id string) error{
		func(c *client, id string) error { c.appends(ctx, id, 8*k); return nil },
		func(c *client, id string) error { return c.mixed(ctx, id, 8*k) },
		func(c *client, id string) error { c.saves(ctx, id, 4*k); return nil },
		func(c *client, id string) error { c.updates(ctx, id, 6*k); return nil },
		func(c *client, id string) error { c.deletes(ctx, id, 2*k); return nil },
		func(c *client, id string) error { return c.rewinds(ctx, id, 2*k) },
		func(c *client, id string) error { return c.agents(ctx, id, 2*k) },
	} {
		own, err := c.client(c.root, c.dir, c.mode)
		if err != nil {
			return err
		}
		wg.Go(func() { errs[i] = errors.Join(do(own, fmt.Sprintf("crowd%d", i)), own.st.Close()) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
