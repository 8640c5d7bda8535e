package sessionstore

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// A tool that takes no lock may make the same new session in the moment in which a call
// makes it. The call says so and writes nothing; called again, it does what it does to any
// session.
func TestAnotherToolMakesTheSameSession(t *testing.T) {
	t.Parallel()
	const theirs = `{"role": "user", "content": "theirs"}` + "\n"
	rows := []Message{say(t, "ours")}
	calls := map[string]struct {
		call  func(ctx context.Context, st *Store) error
		again error
	}{
		"append":      {func(ctx context.Context, st *Store) error { return st.Append(ctx, "s", rows...) }, nil},
		"save":        {func(ctx context.Context, st *Store) error { return st.Save(ctx, "s", rows, Metadata{}) }, nil},
		"create":      {func(ctx context.Context, st *Store) error { return st.Create(ctx, "s", Metadata{}) }, fs.ErrExist},
		"save config": {func(ctx context.Context, st *Store) error { return st.SaveConfig(ctx, "s", Metadata{}) }, nil},
		"make": {func(ctx context.Context, st *Store) error {
			return coreStore{st}.Make(ctx, "s", func(tx any) error { return tx.(*coreTx).SetTranscript(rows) })
		}, fs.ErrExist},
	}
	for name, tt := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, made := t.TempDir(), false
			st, err := open(dir, nil, &seam.Seam{Before: func(op seam.Op) error {
				if op.Kind == seam.Rename && op.To == "s" && !made {
					made = true
					require.NoError(t, os.Mkdir(filepath.Join(dir, "s"), 0o700))
					require.NoError(t, os.WriteFile(filepath.Join(dir, "s", sessiondir.Transcript), []byte(theirs), 0o600))
				}
				return nil
			}})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, st.Close()) })
			err = tt.call(t.Context(), st)
			require.True(t, made)
			require.ErrorIs(t, err, fs.ErrExist)
			if name != "make" {
				require.ErrorIs(t, err, ErrConflict)
			}
			entries, err := os.ReadDir(filepath.Join(dir, "s"))
			require.NoError(t, err)
			require.Len(t, entries, 1)
			text, err := os.ReadFile(filepath.Join(dir, "s", sessiondir.Transcript))
			require.NoError(t, err)
			require.Equal(t, theirs, string(text))
			left, err := os.ReadDir(filepath.Join(dir, sessiondir.Bookkeeping, "new"))
			require.NoError(t, err)
			require.Empty(t, left)

			if err := tt.call(t.Context(), st); tt.again != nil {
				require.ErrorIs(t, err, tt.again)
			} else {
				require.NoError(t, err)
			}
		})
	}
}
