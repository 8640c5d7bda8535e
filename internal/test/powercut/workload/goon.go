package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
)

// GoOn writes on after a power cut: first it notes the state of each subject, as if it had
// been acknowledged before, and then it makes one more call on each subject that can be
// read. It returns the errors of these calls.
func (b *Notebook) GoOn(ctx context.Context, root string, subjects []history.Subject) error {
	synced, err := b.syncAll(ctx, root, subjects)
	errs := []error{err}
	for _, s := range subjects {
		state := b.reader.State(ctx, s)
		if s.Synced() {
			state = synced[s]
		}
		if s.View == history.Whole && b.inPlace(root, s) { // the session is written
			continue
		}
		b.begin(s, "found")(nil, func() history.State { return state })
		if state.Gone || state.Err != "" {
			continue
		}
		if err := b.goOn(ctx, root, s, state); err != nil {
			errs = append(errs, fmt.Errorf("%s %s/%s: %w", s.View, s.Dir, s.ID, err))
		}
	}
	return errors.Join(append(errs, b.Err())...)
}

// syncAll lets the copied directories of the subjects sync.
func (b *Notebook) syncAll(ctx context.Context, root string, subjects []history.Subject) (map[history.Subject]history.State, error) {
	subjects = slices.DeleteFunc(slices.Clone(subjects), func(s history.Subject) bool { return !s.Synced() })
	all := map[history.Subject]history.State{}
	states, err := b.account.Look(ctx, root, subjects)
	for i, state := range states {
		all[subjects[i]] = state
	}
	return all, err
}

func (b *Notebook) inPlace(root string, s history.Subject) bool {
	_, err := os.Stat(filepath.Join(root, s.Dir, s.ID))
	return err == nil
}

func (b *Notebook) goOn(ctx context.Context, root string, s history.Subject, found history.State) error {
	if s.View == history.Share { // the devices kept their power
		return nil
	}
	c, err := b.client(root, s.Dir, s.Mode)
	if err != nil {
		return err
	}
	switch s.View {
	case history.Session:
		err = c.appendAfter(ctx, s, found)
	case history.Agent:
		err = c.claimAgain(ctx, s.ID, found)
	case history.Cloud:
		err = c.copyAfter(ctx, s)
	}
	return errors.Join(err, c.st.Close())
}

// appendAfter appends a message to the session found.
func (c *client) appendAfter(ctx context.Context, s history.Subject, found history.State) (err error) {
	m := message("user", "after the cut")
	c.call(ctx, s, "append", func() error {
		err = c.st.Append(ctx, s.ID, m)
		return err
	})
	if err != nil {
		return fmt.Errorf("append after a power cut: %w", err)
	}
	if now := c.reader.State(ctx, s); now.Err != "" || !slices.Equal(now.Rows, append(slices.Clone(found.Rows), "after")) {
		return fmt.Errorf("%d rows and one more are %d rows: %s", len(found.Rows), len(now.Rows), now.Err)
	}
	return nil
}

// copyAfter appends a message to the session found and copies it.
func (c *client) copyAfter(ctx context.Context, s history.Subject) error {
	copied, err := c.account.Open(ctx, c.root, c.dir, "", sessionstore.Durable)
	if err != nil {
		return err
	}
	m := message("user", "after the cut")
	c.call(ctx, s, "append", func() error { return copied.Append(ctx, s.ID, m) })
	c.call(ctx, s, "sync", func() error {
		_, err := copied.Sync(ctx, s.ID)
		return err
	})
	return copied.Close()
}

// claimAgain tries to claim calls that ran.
func (c *client) claimAgain(ctx context.Context, id string, found history.State) error {
	s, err := agentstate.Open(c.st, id, nil)
	if err != nil {
		return err
	}
	var errs []error
	for _, row := range found.Rows {
		name, verdict, approval := strings.Cut(row, ":")
		if !approval || verdict != string(agentstate.Ran) {
			continue
		}
		var n int
		if _, err := fmt.Sscanf(name, id+"-p%d", &n); err != nil {
			errs = append(errs, err)
			continue
		}
		if err := s.Claim(ctx, name, json.RawMessage(fmt.Sprintf(`{"tool": %d}`, n))); !errors.Is(err, agentstate.ErrRan) {
			errs = append(errs, fmt.Errorf("%w: %s: %v", ErrTwice, name, err))
		}
	}
	return errors.Join(append(errs, s.Close())...)
}
