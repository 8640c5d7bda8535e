package cloud

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/reader"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Look syncs each directory of the subjects after a power cut, as a new process does,
// and returns the states of the subjects after that. The state of a subject has an
// error when its sync fails, when it ends in a conflict, or when another device finds
// something else.
func (a *Account) Look(ctx context.Context, root string, subjects []history.Subject) ([]history.State, error) {
	states := make([]history.State, len(subjects))
	for dir, all := range byDir(subjects) {
		other, err := reader.Scratch()
		if err != nil {
			return nil, err
		}
		trouble := a.settle(ctx, root, dir)
		if err := a.fetch(ctx, other, dir); err != nil {
			return nil, err
		}
		here, there := reader.New(root), reader.New(other)
		for _, i := range all {
			states[i] = compare(subjects[i], here.State(ctx, subjects[i]), there.State(ctx, subjects[i]), trouble)
		}
		if err := errors.Join(here.Close(), there.Close(), os.RemoveAll(other)); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// compare returns the state here, with an error if another device has a different one. With
// Relaxed a transcript or metadata may be unreadable here, or wait for the write that mends
// it. The sync leaves such a session alone. Then the transcript on the other device counts,
// because sent data is there, and the events here count, because each was synced when it
// was written.
func compare(s history.Subject, here, there history.State, trouble error) history.State {
	waits := errors.Is(trouble, hybrid.ErrDeferred) || errors.Is(trouble, hybrid.ErrHeld)
	switch {
	case s.Relaxed && waits && s.View == history.CloudLog:
		return here
	case s.Relaxed && (here.Err != "" || waits):
		return there
	case trouble != nil:
		here.Err = trouble.Error()
	case !slices.Equal(here.Rows, there.Rows):
		here.Err = fmt.Sprintf("another device has %d rows, not %d: %s", len(there.Rows), len(here.Rows), there.Err)
	}
	return here
}

func byDir(subjects []history.Subject) map[string][]int {
	dirs := map[string][]int{}
	for i, s := range subjects {
		dirs[s.Dir] = append(dirs[s.Dir], i)
	}
	return dirs
}

// settle syncs and pulls a directory twice: at once, and as if its sessions had not
// been written for an hour. A pull leaves a session alone that was written a moment
// ago, because a program may still run it.
func (a *Account) settle(ctx context.Context, root, dir string) error {
	s, err := a.Open(ctx, root, dir, "", sessionstore.Durable)
	if err != nil {
		return fmt.Errorf("open after a power cut: %w", err)
	}
	err = both(ctx, s)
	if err == nil {
		if err = age(filepath.Join(root, dir)); err == nil {
			err = both(ctx, s)
		}
	}
	return errors.Join(err, s.Close())
}

// both syncs and pulls. No other device has written in between, so a conflict is an error.
func both(ctx context.Context, s *hybrid.Store) error {
	sent, err := s.Sync(ctx)
	if err != nil {
		return fmt.Errorf("sync after a power cut: %w", err)
	}
	got, err := s.Pull(ctx)
	if err != nil {
		return fmt.Errorf("pull after a power cut: %w", err)
	}
	for _, x := range append(sent.Held, got.Held...) { // no rule keeps them: their metadata are torn
		return fmt.Errorf("held after a power cut: %w", x.Err)
	}
	if n := len(sent.Conflicts) + len(got.Conflicts); n > 0 {
		return fmt.Errorf("%d conflicts after a power cut", n)
	}
	return nil
}

// age sets the times of the transcripts back by an hour.
func age(dir string) error {
	all, err := filepath.Glob(filepath.Join(dir, "*", "transcript.jsonl"))
	at := time.Now().Add(-time.Hour)
	for _, name := range all {
		err = errors.Join(err, os.Chtimes(name, at, at))
	}
	return err
}

// fetch pulls all sessions to a new device.
func (a *Account) fetch(ctx context.Context, root, dir string) error {
	s, err := a.Open(ctx, root, dir, "other", sessionstore.Relaxed)
	if err != nil {
		return err
	}
	_, err = s.Pull(ctx)
	return errors.Join(err, s.Close())
}
