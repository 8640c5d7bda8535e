package foreign

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDatabaseIsNotOpened finds and imports the sessions of a database three times: while it does
// not change it is not opened, and once it changes, what did not change in it is not read.
func TestDatabaseIsNotOpened(t *testing.T) {
	t.Parallel()
	h, notes := newOpenCodeHome(t), t.TempDir()
	for i, id := range []string{"ses_a", "ses_b"} {
		h.session(id, "", 1000+i)
		h.turn(id, 1001+i, "One")
	}
	settle := func() {
		path, began := filepath.Join(notes, "clock"), time.Now()
		require.Eventually(t, func() bool {
			require.NoError(t, os.WriteFile(path, []byte(time.Now().String()), 0o600))
			fi, err := os.Stat(path)
			return err == nil && fi.ModTime().Sub(began) > 30*time.Millisecond
		}, time.Minute, 5*time.Millisecond)
	}
	settle()
	opened := watchOpens(t, h.dir)
	run := func() (all []Report, n int) {
		found, err := Find(t.Context(), OpenCode, &FindOptions{Home: h.dir, Notes: notes})
		require.NoError(t, err)
		require.Len(t, found, 2)
		for _, one := range found {
			report, err := Import(t.Context(), h.p, one, nil)
			require.NoError(t, err)
			all = append(all, *report)
		}
		return all, opened.since()
	}
	_, n := run()
	require.Positive(t, n)
	unchanged, _ := run() // which notes what is there
	again, n := run()
	require.Zero(t, n)
	require.Equal(t, unchanged, again)
	h.turn("ses_a", 1011, "Two")
	h.exec(`UPDATE part SET data = replace(data, 'One', 'Won') WHERE session_id = 'ses_b'`) // as no tool does, without a time
	opened.since()
	settle()
	grown, n := run()
	require.Positive(t, n)
	require.Equal(t, []string{"One", "re One"}, h.said(idOf(OpenCode, "ses_b")))
	require.Equal(t, Updated, grown[0].Sessions[0].Action)
	require.Equal(t, again[1], grown[1])
	require.NoError(t, os.WriteFile(filepath.Join(notes, "opencode.json"), []byte("damaged"), 0o600))
	opened.since()
	_, n = run()
	require.Positive(t, n)
	found, err := Find(t.Context(), OpenCode, &FindOptions{Home: h.dir, Notes: notes, Since: time.Now()})
	require.NoError(t, err)
	require.Empty(t, found)
}
