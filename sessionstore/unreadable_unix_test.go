//go:build unix

package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func init() { children["unreadable"] = unreadableChild }

// TestUnreadable writes a session of which a file may not be read for a while.
// The file may be whole, so no call may take its backup for what it holds, and
// write that: each fails, says which file, and changes nothing.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{transcriptFile, metadataFile} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(enterable(t), "sessions")
			st := open(t, dir, nil)
			for n := range 3 {
				rows := parse(t, numbered("row", 0), numbered("row", 1), numbered("row", 2))[:n+1]
				require.NoError(t, st.Save(t.Context(), "s", rows, metadata(t, fmt.Sprintf(`{"n": %d, "turn_count": %d}`, n, n+1))))
			}
			if os.Getuid() == 0 { // whom permissions do not bind: the child is nobody
				require.NoError(t, filepath.WalkDir(filepath.Dir(dir), func(path string, _ fs.DirEntry, err error) error {
					return errors.Join(err, os.Lchown(path, nobody, nobody))
				}))
			}
			require.NoError(t, os.Chmod(filepath.Join(dir, "s", name), 0))
			before := tree(t, dir)
			testenv.Spawn(t, "unreadable", dir, "").End(t)
			require.Equal(t, before, tree(t, dir), "nothing changes")
			require.NoError(t, os.Chmod(filepath.Join(dir, "s", name), 0o600))
			require.NoError(t, st.Append(t.Context(), "s", parse(t, numbered("row", 3))...))
			s, err := st.Load(t.Context(), "s")
			require.NoError(t, err)
			require.Nil(t, s.Recovered)
			require.Len(t, s.Messages, 4)
			turns, _ := s.Metadata.Int("turn_count")
			require.Equal(t, 4, turns)
		})
	}
}

// unreadableChild makes calls that write, as a user who may not read one of the
// files.
func unreadableChild(dir, _ string) error {
	if os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return err
		}
	}
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	m, err := sessionstore.ParseMessage([]byte(numbered("lost", 0)))
	if err != nil {
		return err
	}
	ctx := context.Background()
	transcript := false
	if f, err := os.Open(filepath.Join(dir, "s", transcriptFile)); err != nil {
		transcript = true
	} else if err := f.Close(); err != nil {
		return err
	}
	loaded, err := st.Load(ctx, "s") // the backup, as the reference does
	if err != nil || loaded.Recovered == nil {
		return fmt.Errorf("load: recovered %v: %w", loaded.Recovered, err)
	}
	calls := map[string]func() error{
		"append": func() error { return st.Append(ctx, "s", m) },
		"save":   func() error { return st.Save(ctx, "s", append(loaded.Messages, m), loaded.Metadata) },
	}
	if transcript {
		calls["replace"] = func() error {
			_, err := st.Replace(ctx, "s", loaded.Revision, append(loaded.Messages, m))
			return err
		}
		calls["salvage"] = func() error { _, err := st.Salvage(ctx, "s"); return err }
	} else {
		calls["update"] = func() error {
			_, err := st.UpdateMetadata(ctx, "s", func(md *sessionstore.Metadata) error { return md.Set("n", 9) })
			return err
		}
		calls["name"] = func() error {
			_, _, err := st.SetName(ctx, "s", sessionstore.Naming{Name: "n", Source: "manual"})
			return err
		}
	}
	for _, name := range sortedKeys(calls) {
		err := calls[name]()
		var typed *sessionstore.Error
		if !errors.As(err, &typed) || !errors.Is(err, fs.ErrPermission) || errors.Is(err, sessionstore.ErrCorrupt) {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println(name+":", err)
	}
	return st.Close()
}
