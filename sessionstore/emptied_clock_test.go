package sessionstore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// fileClocks are the steps of the clocks of file systems: NTFS and SMB, ext3,
// exFAT, HFS+, FAT.
var fileClocks = map[string]time.Duration{
	"100 ns": 100 * time.Nanosecond, "1 µs": time.Microsecond, "10 ms": 10 * time.Millisecond, "1 s": time.Second, "2 s": 2 * time.Second,
}

// TestEmptiedOnAnyClock empties a session on purpose, and cuts the time of the
// transcript as a file system with a coarse clock does.
func TestEmptiedOnAnyClock(t *testing.T) {
	t.Parallel()
	for clock, step := range fileClocks {
		for durability, d := range durabilities {
			t.Run(clock+" "+durability, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				st := open(t, dir, &sessionstore.Options{Durability: d})
				rows := parse(t, user("1"), user("2"), user("3"))
				require.NoError(t, st.Save(t.Context(), "s-x_sub", rows, sessionstore.Metadata{}))
				require.NoError(t, st.Save(t.Context(), "s-x_sub", nil, sessionstore.Metadata{}))
				main := filepath.Join(dir, "s-x_sub", transcriptFile)
				cutTime(t, main, step)
				for _, st := range []*sessionstore.Store{st, open(t, dir, nil)} {
					s, err := st.Load(t.Context(), "s-x_sub")
					require.NoError(t, err)
					require.Empty(t, s.Messages)
					require.Nil(t, s.Recovered)
				}

				require.NoError(t, st.Save(t.Context(), "s-x_sub", rows[:2], sessionstore.Metadata{}))
				require.NoError(t, st.Save(t.Context(), "s-x_sub", rows[:1], sessionstore.Metadata{}))
				lose(t, main)
				s, err := open(t, dir, nil).Load(t.Context(), "s-x_sub")
				require.NoError(t, err)
				require.Len(t, s.Messages, 2, "what a power cut took is no purpose")
				require.NotNil(t, s.Recovered)
			})
		}
	}
}

// cutTime rounds the time of the file down to a whole number of steps.
func cutTime(t *testing.T, path string, step time.Duration) {
	t.Helper()
	fi, err := os.Stat(path)
	require.NoError(t, err)
	at := fi.ModTime().Truncate(step)
	require.NoError(t, os.Chtimes(path, at, at))
}

// lose empties the file as a power cut does, some time later.
func lose(t *testing.T, path string) {
	t.Helper()
	at := time.Now().Add(time.Hour)
	require.NoError(t, os.Truncate(path, 0))
	require.NoError(t, os.Chtimes(path, at, at))
}

// TestDeleteForgetsThatASessionWasEmptied makes a session again that was emptied
// and removed: nothing of the first is left.
func TestDeleteForgetsThatASessionWasEmptied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("1")), sessionstore.Metadata{}))
	require.NoError(t, st.Save(t.Context(), "s", nil, sessionstore.Metadata{}))
	records := filepath.Join(dir, ".sessionstore", "emptied")
	entries, err := os.ReadDir(records)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.NoError(t, st.Delete(t.Context(), "s"))
	entries, err = os.ReadDir(records)
	require.NoError(t, err)
	require.Empty(t, entries)
	require.NoError(t, st.Delete(t.Context(), create(t, st)))
}

// create makes a session that was never emptied.
func create(t *testing.T, st *sessionstore.Store) string {
	t.Helper()
	require.NoError(t, st.Create(t.Context(), "never-emptied", sessionstore.Metadata{}))
	return "never-emptied"
}
