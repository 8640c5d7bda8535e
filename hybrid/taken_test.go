package hybrid

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
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

// TestPullDropsWhatIsOld: what a pull took away goes after 30 days also at a pull that only adds, or
// brings a small file. What is no file is left alone, and stops no pull.
func TestPullDropsWhatIsOld(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]func(d *testDevice){
		"lines":      func(d *testDevice) { d.say("s", "three") },
		"a file":     func(d *testDevice) { d.put("s", "config.md", "text") },
		"away again": func(d *testDevice) { d.cutTo("s", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a"), c.device(t, "b")
			a.say("s", "one", "two")
			a.sync()
			b.pull()
			kept := func(days int) string {
				return filepath.Join(b.Dir(), "s", "transcript.jsonl.bak-pre-pull-"+time.Now().Add(-time.Duration(days)*24*time.Hour).UTC().Format("20060102150405"))
			}
			old, young, directory, link := kept(31), kept(29), kept(40), kept(50)
			require.NoError(t, os.WriteFile(old, []byte("secret"), 0o600))
			require.NoError(t, os.WriteFile(young, []byte("secret"), 0o600))
			require.NoError(t, os.Mkdir(directory, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(directory, "x"), nil, 0o600))
			linked := os.Symlink("nowhere", link) == nil // not everywhere on Windows
			changes(a)
			a.sync()
			b.sync()
			require.Equal(t, a.texts("s"), b.texts("s"))
			require.NoFileExists(testenv.Lost(t), old)
			require.FileExists(testenv.Lost(t), young)
			require.DirExists(t, directory)
			_, err := os.Lstat(link)
			require.Equal(t, linked, err == nil)
		})
	}
}

// TestPullIsDurableBeforeItTakesAway: the name of the copy is durable before the transcript is
// another one, in a store that syncs.
func TestPullIsDurableBeforeItTakesAway(t *testing.T) {
	t.Parallel()
	there := &memremote.Remote{}
	var ops []string
	device := func(name string, hooks *seam.Seam) *testDevice {
		o := &Options{Remote: there, Project: "demo", User: "ada", Device: name, Manual: true}
		s, err := open(t.Context(), filepath.Join(t.TempDir(), "sessions"), o, hooks)
		require.NoError(t, err)
		testenv.Cleanup(t, func() { requireClosed(t, s) })
		return &testDevice{s, t}
	}
	a, b := device("a", nil), device("b", &seam.Seam{After: func(op seam.Op) {
		switch {
		case filepath.Base(op.Dir) != "s":
		case op.Kind == seam.SyncDir:
			ops = append(ops, "durable")
		case strings.Contains(op.To, ".bak-pre-pull-"):
			ops = append(ops, "kept")
		case op.To == "transcript.jsonl", op.Kind == seam.Exchange && op.Name == "transcript.jsonl":
			ops = append(ops, "taken away")
		}
	}})
	a.say("s", "one", "two")
	a.sync()
	b.pull()
	a.cutTo("s", 1)
	a.sync()
	ops = nil
	b.sync()
	require.Equal(t, []string{"one"}, b.texts("s"))
	at := slices.Index(ops, "kept")
	require.GreaterOrEqual(t, at, 0)
	require.Equal(testenv.Lost(t), []string{"kept", "durable", "taken away"}, ops[at:at+3])
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
