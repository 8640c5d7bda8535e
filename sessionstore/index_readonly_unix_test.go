//go:build unix

package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func init() { children["readonly index"] = readWithoutPermission }

// TestIndexReadOnly asks, as a user who may only read, for all that the index answers:
// where there is none, and where there is one that is out of date. Nothing is written.
func TestIndexReadOnly(t *testing.T) {
	t.Parallel()
	for name, indexed := range map[string]bool{"no index": false, "old index": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(enterable(t), "sessions")
			secretSession(t, dir, "small", 10)
			secretSession(t, dir, "large", 1<<20)
			if indexed {
				time.Sleep(50 * time.Millisecond) // the files come to rest
				summaries(t, open(t, dir, nil))
				require.DirExists(t, filepath.Join(dir, ".sessionstore", "index"))
			}
			for _, id := range []string{"small", "large"} {
				appendLine(t, filepath.Join(dir, id, transcriptFile), user("last"))
			}
			before := tree(t, dir)
			forbidWrites(t, dir)
			testenv.Spawn(t, "readonly index", dir, "").End(t)
			require.Equal(t, before, tree(t, dir))
		})
	}
}

// forbidWrites takes from everybody but root the right to change anything in a directory,
// until the test ends, and lets all read it.
func forbidWrites(t *testing.T, dir string) {
	t.Helper()
	var places []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			places = append(places, path)
		} else if err == nil {
			err = os.Chmod(path, 0o444)
		}
		return err
	}))
	for _, path := range append(places, filepath.Dir(dir)) {
		require.NoError(t, os.Chmod(path, 0o555))
	}
	t.Cleanup(func() {
		for _, path := range append([]string{filepath.Dir(dir)}, places...) {
			require.NoError(t, os.Chmod(path, 0o700))
		}
	})
}

// readWithoutPermission reads twice by way of an index that it cannot write.
func readWithoutPermission(dir, _ string) error {
	if os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "probe"), nil, 0o600); !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the directory can be written: %w", err)
	}
	ctx := context.Background()
	for range 2 {
		st, err := sessionstore.Open(dir, nil)
		if err != nil {
			return err
		}
		titles := ""
		for s, failed := range st.Summaries(ctx, nil) {
			if s.Messages != 3 || s.Turns != 2 {
				err = errors.Join(err, failed, fmt.Errorf("%d messages, %d turns", s.Messages, s.Turns))
			}
			titles += s.Title
		}
		if !strings.Contains(titles, "name of large") || !strings.Contains(titles, "name of small") {
			err = errors.Join(err, errors.New("a session is missing"))
		}
		if err := errors.Join(err, readParts(ctx, st, "small"), readParts(ctx, st, "large"), st.Close()); err != nil {
			return err
		}
	}
	return nil
}

// readParts reads the last message of three in several ways.
func readParts(ctx context.Context, st *sessionstore.Store, id string) error {
	rows, err := sessionstore.TurnOf(st, ctx, id, 2)
	last, lerr := sessionstore.LastTurnsOf(st, ctx, id, 1)
	window, werr := slice.ResumeWindow(ctx, st, id, 1)
	one, oerr := sessionstore.MessageOf(st, ctx, id, 3)
	err = errors.Join(err, lerr, werr, oerr)
	for _, m := range append(append(append(rows, last...), window...), one) {
		if m.Content() != "last" {
			err = errors.Join(err, fmt.Errorf("another message than the last of %s", id))
		}
	}
	if len(rows) != 1 || len(last) != 1 || len(window) != 1 {
		err = errors.Join(err, fmt.Errorf("%d, %d and %d messages of %s", len(rows), len(last), len(window), id))
	}
	n := 0
	for _, failed := range st.Since(ctx, id, sessionstore.Cursor{}) {
		err, n = errors.Join(err, failed), n+1
	}
	if n != 3 {
		err = errors.Join(err, fmt.Errorf("%d messages of %s from its beginning", n, id))
	}
	return err
}
