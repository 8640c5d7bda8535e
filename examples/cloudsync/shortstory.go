package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// recordAll asks the questions, lets two devices take turns, and writes the answers of the
// account.
func recordAll(ctx context.Context, a *account, dir string, record *recorder, out *screen) (err error) {
	if err := askAll(ctx, a.container, record); err != nil {
		return fmt.Errorf("questions: %w", err)
	}
	err = takeTurns(ctx, a, dir, record, out)
	record.begin("", "", 0)
	if err != nil {
		return fmt.Errorf("story: %w", err)
	}
	out.printf("%s recorded.\n", count(record.lines, "request"))
	for _, step := range record.other {
		out.printf("   otherwise than expected: %s\n", step)
	}
	return nil
}

// takeTurns lets two devices write one session in turns, and both at once.
func takeTurns(ctx context.Context, a *account, dir string, record *recorder, out *screen) (err error) {
	var devices [2]*device
	for i, name := range []string{"one", "two"} {
		if devices[i], err = a.open(ctx, dir, name, out); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, devices[i].store.Close()) }()
	}
	for _, step := range []struct {
		name string
		do   func(one, two *device) error
	}{
		{"first turn", func(one, _ *device) error { return turn(ctx, one, "the first turn") }},
		{"fetch", func(_, two *device) error { return fetch(ctx, two) }},
		{"second turn", func(_, two *device) error { return turn(ctx, two, "the second turn") }},
		{"fetch the change", func(one, _ *device) error { return fetch(ctx, one) }},
		{"nothing new", func(one, _ *device) error { return fetch(ctx, one) }},
		{"both write", func(one, two *device) error {
			return errors.Join(turn(ctx, one, "this way"), turn(ctx, two, "that way"))
		}},
		{"send the branch", func(_, two *device) error { _, err := two.sync(ctx, 0); return err }},
		{"fetch all", func(one, _ *device) error { return fetch(ctx, one) }},
		{"list", func(one, _ *device) error { _, err := one.store.Remote(ctx); return err }},
		{"delete", func(_, two *device) error { return forget(ctx, two) }},
	} {
		record.begin("story", step.name, 0)
		if err := step.do(devices[0], devices[1]); err != nil {
			record.begin("story", "tidy", 0)
			return errors.Join(fmt.Errorf("%s: %w", step.name, err), forget(context.WithoutCancel(ctx), devices[1]))
		}
	}
	return nil
}

// turn writes a question and an answer, and sends them.
func turn(ctx context.Context, d *device, text string) error {
	if err := errors.Join(d.say(ctx, garden, "user", text), d.say(ctx, garden, "assistant", "So it is.")); err != nil {
		return err
	}
	_, err := d.store.Sync(ctx)
	return err
}

func fetch(ctx context.Context, d *device) error {
	_, err := d.store.Pull(ctx)
	return err
}

// forget deletes the sessions of a device in the cloud, those that others
// continue last.
func forget(ctx context.Context, d *device) error {
	ids, err := d.list(ctx)
	if err != nil {
		return err
	}
	for _, last := range []bool{false, true} {
		for _, id := range ids {
			if (id == garden) != last {
				continue
			}
			if gone := d.store.Remove(ctx, id); !errors.Is(gone, sessionstore.ErrNotFound) {
				err = errors.Join(err, gone)
			}
		}
	}
	return err
}

// tempDir returns dir, or a new directory when it is "".
func tempDir(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	return os.MkdirTemp("", "cloudsync-")
}
