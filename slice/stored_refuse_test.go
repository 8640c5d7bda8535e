package slice_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func TestStoredRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files map[string]string
		line  int
	}{
		{"a torn line", map[string]string{transcriptFile: firstTwo + "\n" + `{"role`}, 6},
		{"with a good backup", map[string]string{transcriptFile: "{bad\n" + firstTwo, transcriptFile + ".backup": firstTwo}, 1},
		{"bytes", map[string]string{transcriptFile: firstTwo + "\xff\n"}, 5},
		{"a value", map[string]string{transcriptFile: "\n" + firstTwo + "5\n"}, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t, "")
			put(t, st, parentID, tt.files)
			for name, change := range map[string]func(context.Context) error{
				"repair": func(ctx context.Context) error {
					_, err := slice.RepairSession(ctx, st, parentID)
					return err
				},
				"rewind": func(ctx context.Context) error {
					_, err := slice.RewindSession(ctx, st, parentID)
					return err
				},
				"rewind to": func(ctx context.Context) error {
					_, err := slice.RewindSessionTo(ctx, st, parentID, 1, slice.Complete)
					return err
				},
			} {
				err := change(t.Context())
				corrupt := (*sessionstore.CorruptError)(nil)
				require.ErrorAs(t, err, &corrupt, name)
				require.Equal(t, tt.line, corrupt.Line, name)
				require.Equal(t, tt.files, get(t, st, parentID), name)
			}
		})
	}
}

func TestStoredChangesOfNoSession(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	for id, want := range map[string]error{"nobody": sessionstore.ErrNotFound, "../x": sessionstore.ErrInvalidID} {
		_, err := slice.RepairSession(t.Context(), st, id)
		require.ErrorIs(t, err, want)
		_, err = slice.RewindSession(t.Context(), st, id)
		require.ErrorIs(t, err, want)
		_, err = slice.Undo(t.Context(), st, id, repairBackup, nil)
		require.ErrorIs(t, err, want)
		_, err = slice.Backups(t.Context(), st, id)
		require.ErrorIs(t, err, want)
		_, err = slice.Inspect(t.Context(), st, id)
		require.ErrorIs(t, err, want)
	}
	entries, err := os.ReadDir(st.Dir())
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestStoredChangesEndWithTheirContext(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	before := get(t, st, parentID)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := slice.RepairSession(ctx, st, parentID)
	require.ErrorIs(t, err, context.Canceled)
	_, err = slice.RewindSession(ctx, st, parentID)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, get(t, st, parentID))
}

// TestRepairWhileSomebodyWrites lets another tool replace the transcript
// between the reading and the writing of a repair.
func TestRepairWhileSomebodyWrites(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sessions")
	path := filepath.Join(dir, parentID, transcriptFile)
	meddle := false
	clock := func() time.Time {
		if meddle { // the store asks for the time to name the copy
			meddle = false
			tmp := path + ".tmp"
			require.NoError(t, os.WriteFile(tmp, []byte(firstTwo), 0o600))
			require.NoError(t, os.Rename(tmp, path))
		}
		return noon()
	}
	st, err := sessionstore.Open(dir, &sessionstore.Options{Now: clock, Workspace: "/w"})
	require.NoError(t, err)
	defer st.Close()
	broken(t, st)
	meddle = true
	_, err = slice.RepairSession(t.Context(), st, parentID)
	require.ErrorIs(t, err, sessionstore.ErrConflict)
	require.Equal(t, firstTwo, get(t, st, parentID)[transcriptFile])
	require.False(t, errors.Is(err, sessionstore.ErrCorrupt))
	require.NotContains(t, strings.Join(keys(get(t, st, parentID)), " "), ".bak-")
}

func keys(files map[string]string) (names []string) {
	for name := range files {
		names = append(names, name)
	}
	return names
}
