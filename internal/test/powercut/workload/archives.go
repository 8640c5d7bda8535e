package workload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// archives imports sessions, moves them to the trash, brings some back and
// removes others for good.
func (c *client) archives(ctx context.Context, id string, n int) error {
	source := id + "-source"
	msgs := c.messages(source, 0, 6)
	c.session(ctx, source, "save", func() error { return c.st.Save(ctx, source, msgs, metadata(1)) })
	if err := c.log(ctx, source, 3); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.path(), source, "notes.txt"), bytes.Repeat([]byte("note "), 3000), 0o600); err != nil {
		return err
	}
	var tar bytes.Buffer
	if err := archive.Write(ctx, &tar, c.st, []string{source}, nil); err != nil {
		return err
	}
	for i := range n {
		id := fmt.Sprintf("%s%d", id, i)
		c.whole(ctx, id, "import", func() error {
			_, err := archive.Read(ctx, bytes.NewReader(tar.Bytes()), c.st, &archive.ReadOptions{ID: id})
			return err
		})
		c.whole(ctx, id, "trash", func() error { return c.remove(ctx, id) })
		c.whole(ctx, id, "untrash", func() error {
			all, _ := trash.List(ctx, c.st) // a damaged receipt hides no session
			r, err := trash.Select(all, id)
			if err != nil {
				return err
			}
			res, err := trash.Restore(ctx, c.st, r, nil)
			return errors.Join(err, failed(res.Failed))
		})
		if i%2 == 0 {
			continue
		}
		c.whole(ctx, id, "trash", func() error { return c.remove(ctx, id) })
		c.whole(ctx, id, "empty", func() error { return c.empty(ctx) })
	}
	return nil
}

// whole makes a call and notes the state of the session after it: in its place, and
// wherever it is.
func (c *client) whole(ctx context.Context, id, kind string, call func() error) {
	c.call(ctx, c.subject(id, history.Whole), kind, func() (err error) {
		c.session(ctx, id, kind, func() error {
			err = call()
			return err
		})
		return err
	})
}

// remove moves a session to the trash.
func (c *client) remove(ctx context.Context, id string) error {
	res, err := trash.Delete(ctx, c.st, []string{id}, &trash.Options{Quiet: -1})
	for _, s := range res.Kept {
		err = errors.Join(err, fmt.Errorf("session %s is kept: %v", s.ID, s.Obstacles))
	}
	return errors.Join(err, failed(res.Failed))
}

// empty removes the sessions in the trash for good.
func (c *client) empty(ctx context.Context) error {
	receipts, err := trash.List(ctx, c.st)
	if err != nil {
		return err
	}
	_, err = trash.Empty(ctx, c.st, receipts)
	return err
}

// failed joins the errors of sessions that were not moved.
func failed(all []trash.Failure) (err error) {
	for _, f := range all {
		err = errors.Join(err, fmt.Errorf("session %s: %w", f.ID, f.Err))
	}
	return err
}
