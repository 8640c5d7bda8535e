package hybrid

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// taken returns the copies that pulls kept of a session, newest first.
func (r *testDevice) taken(id string) (all []slice.Backup) {
	r.t.Helper()
	found, err := slice.Backups(r.t.Context(), r.Store.Store, id)
	require.NoError(r.t, err)
	for _, b := range found {
		if b.Label == "pre-pull" {
			all = append(all, b)
		}
	}
	return all
}

// TestPullKeepsWhatItTakesAway has another device rewind a session twice, and write it anew:
// each pull keeps what stood there, which undo brings back step by step, and the other
// device has it then, too. A pull that only adds keeps nothing.
func TestPullKeepsWhatItTakesAway(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one", "two", "three", "four")
	a.sync()
	b.pull()
	a.say("s", "five")
	a.sync()
	b.sync()
	require.Empty(t, b.taken("s"))
	states := [][]string{b.texts("s")}
	for _, change := range []func(){
		func() { a.cutTo("s", 4) },
		func() { a.cutTo("s", 2); a.say("s", "other") },
		func() { a.cutTo("s", 0); a.say("s", "all", "new") },
	} {
		change()
		a.sync()
		b.sync()
		require.Equal(t, a.texts("s"), b.texts("s"))
		states = append(states, b.texts("s"))
	}
	require.Len(t, b.taken("s"), 3)
	require.Empty(t, a.taken("s"))
	for i := len(states) - 2; i >= 0; i-- {
		_, err := slice.Undo(t.Context(), b.Store.Store, "s", "", nil)
		require.NoError(t, err)
		require.Equal(testenv.Lost(t), states[i], b.texts("s"))
	}
	_, err := slice.Redo(t.Context(), b.Store.Store, "s")
	require.NoError(t, err)
	require.Equal(t, states[1], b.texts("s"))
	b.sync()
	a.sync()
	require.Equal(testenv.Lost(t), states[1], a.texts("s"))
	require.Equal(t, []string{"s"}, a.ids())

	b.say("s", "more")
	b.sync()
	a.sync()
	_, err = slice.Undo(t.Context(), a.Store.Store, "s", "", nil)
	require.ErrorIs(t, err, slice.ErrWentOn, "lines came after the pull that took some away")
}

// TestPullStopsWhereItCannotKeep: what pulls took away goes after 30 days, at a later pull.
// Where it takes 1 GB, a pull that takes lines away stops, and drops nothing.
func TestPullStopsWhereItCannotKeep(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one", "two")
	a.sync()
	b.pull()
	name := func(before time.Duration) string {
		return filepath.Join(b.Dir(), "s", "transcript.jsonl.bak-pre-pull-"+time.Now().Add(-before).UTC().Format("20060102150405"))
	}
	old, young := name(31*24*time.Hour), name(29*24*time.Hour)
	for _, path := range []string{old, young} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, 1<<30))
	}
	a.cutTo("s", 1)
	a.sync()
	result, err := b.Sync(t.Context())
	require.ErrorIs(t, err, ErrTakenAway)
	require.Len(t, result.Failed, 1)
	require.Equal(t, Blocked, b.state("s").State)
	require.Equal(t, []string{"one", "two"}, b.texts("s"))
	require.NoFileExists(t, old)
	require.FileExists(t, young)
	require.Len(t, b.taken("s"), 1)

	_, err = slice.DropBackups(t.Context(), b.Store.Store, "s")
	require.NoError(t, err)
	b.sync()
	require.Equal(t, []string{"one"}, b.texts("s"))
	require.Len(t, b.taken("s"), 1)
}

// TestPullTellsOfConfig replaces config.md by another device's: that is logged, and reported
// to OnChange.
func TestPullTellsOfConfig(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	var log bytes.Buffer
	var changed []string
	a, b := c.device(t, "a"), c.device(t, "b", func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.Store.OnChange = func(c sessionstore.Change) { changed = append(changed, c.File) }
	})
	a.say("s", "one")
	a.put("s", "config.md", "first")
	a.sync()
	b.pull()
	require.NotContains(t, log.String(), "config.md")
	a.put("s", "config.md", "second")
	a.sync()
	b.sync()
	require.Equal(t, "second", b.file("s", "config.md"))
	require.Contains(t, log.String(), "config.md")
	require.Contains(t, changed, "config.md")
}
