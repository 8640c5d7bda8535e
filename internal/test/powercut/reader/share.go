package reader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Scratch makes a directory for another device, in memory where that can be had.
func Scratch() (string, error) {
	if dir, err := os.MkdirTemp("/dev/shm", "powercut"); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", "powercut")
}

// Sharing calls do with a device that has its sessions in a directory and keeps its power, and
// syncs them by the directory place, as of a file server.
func Sharing(ctx context.Context, place, sessions string, do func(*hybrid.Store) error) error {
	r, err := dir.Open(ctx, place)
	if err != nil {
		return err
	}
	s, err := hybrid.Open(ctx, sessions, &hybrid.Options{
		Store:  &sessionstore.Options{Durability: sessionstore.Relaxed},
		Remote: r, Project: "p", User: "ada", Device: filepath.Base(sessions), Manual: true,
	})
	if err != nil {
		return errors.Join(err, r.Close())
	}
	return errors.Join(do(s), s.Close(), r.Close())
}

// shared returns the state of a session as a new device gets it by the directory place. It
// has an error unless everything that the head leads to is there.
func shared(ctx context.Context, place, id string) (out history.State) {
	out = history.Gone()
	if _, err := os.Stat(place); errors.Is(err, fs.ErrNotExist) {
		return out
	}
	top, err := Scratch()
	if err == nil {
		err = Sharing(ctx, place, filepath.Join(top, "new"), func(s *hybrid.Store) error {
			if _, err := s.Pull(ctx); err != nil {
				return fmt.Errorf("pull after a power cut: %w", err)
			}
			if out = session(ctx, s.Store, id); out.Gone {
				return nil
			}
			_, err := s.Check(ctx, id, nil)
			return err
		})
		err = errors.Join(err, os.RemoveAll(top))
	}
	if err != nil {
		out.Err = err.Error()
	}
	return out
}
