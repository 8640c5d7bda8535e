package sessionstore

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// TestRemovedWhileRead removes a session between the opening of its directory and the reading
// of its files: the readers say that there is none, and not that it is damaged or empty. So
// they do when there is a new session of the id.
func TestRemovedWhileRead(t *testing.T) {
	t.Parallel()
	remove := map[string]func(st *Store, id string) error{
		"by us":           func(st *Store, id string) error { return st.Delete(t.Context(), id) },
		"by another tool": func(st *Store, id string) error { return os.RemoveAll(st.Dir() + "/" + id) },
		"and made anew": func(st *Store, id string) error {
			if err := st.Delete(t.Context(), id); err != nil {
				return err
			}
			return st.Save(t.Context(), id, nil, Metadata{})
		},
	}
	for name, remove := range remove {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, err := Open(t.TempDir(), nil)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, st.Close()) })
			m, err := Text("user", "hello", time.Now())
			require.NoError(t, err)
			require.NoError(t, st.Append(t.Context(), "s", m))
			dir, err := st.openDir("s")
			require.NoError(t, err)
			md := readMetadata(dir, "s", time.Now).md
			require.NoError(t, remove(st, "s"))
			for _, md := range []Metadata{md, {}} {
				s := st.cache.call("s")
				read := st.transcriptOf(t.Context(), s, dir, "s", md)
				st.cache.end(s)
				require.ErrorIs(t, read.damage, ErrNotFound)
			}
			s, damage, err := st.load(t.Context(), dir, "s")
			require.ErrorIs(t, err, ErrNotFound)
			require.NoError(t, damage)
			require.Nil(t, s)
			require.NoError(t, dir.Close())
		})
	}
}

// A session that is removed is gone, and OnChange tells so, also where the index of lists
// cannot be locked.
func TestRemovedBesideAnIndexThatCannotBeLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log bytes.Buffer
	told := map[string]Op{}
	st, err := Open(dir, &Options{
		Logger:   slog.New(slog.NewTextHandler(&log, nil)),
		OnChange: func(c Change) { told[c.ID] = c.Op },
		Now:      func() time.Time { return time.Now().AddDate(0, 0, 40) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	for _, id := range []string{"deleted", "cleaned"} {
		require.NoError(t, st.Create(t.Context(), id, Metadata{}))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, sessiondir.Bookkeeping, indexDir, index.Lock), 0o700))
	require.NoError(t, st.Delete(t.Context(), "deleted"))
	n, err := st.Cleanup(t.Context(), 30)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	for _, id := range []string{"deleted", "cleaned"} {
		require.False(t, st.Exists(id))
		require.Equal(t, Removed, told[id])
	}
	require.Contains(t, log.String(), "session not forgotten")
}
