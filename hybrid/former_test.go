package hybrid

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
	"github.com/amplifier-go/sessionstorage/slice"
)

// keepDrafts keeps sessions of a name.
func keepDrafts(o *Options) { o.Private = []string{"*draft*"} }

// TestAnotherSessionOfTheParentsID deletes a parent that a glob keeps, and makes another session of
// its id, which leaves: the child of the deleted one stays.
func TestAnotherSessionOfTheParentsID(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", keepDrafts)
	a.say("parent", "text of the draft")
	a.setMember("parent", "name", "my draft")
	a.setMember("parent", "created", "2026-11-01T10:00:00+00:00")
	a.say("kid", "text of the kid")
	a.setMember("kid", "parent_id", "parent")
	a.sync()
	require.NoError(t, a.Delete(t.Context(), "parent"))
	a.say("parent", "something else")
	a.setMember("parent", "name", "letter")
	a = c.reopened(t, a, "a")
	require.Equal(t, 1, a.sync().Pushed)
	require.Equal(testenv.Lost(t), Local, a.state("kid").State)
	c.requireNoTrace(t, "text of the")
}

// TestKeptBeforeAnythingJudges names a session as kept, or makes a child of one, in a program that
// is killed before it syncs, is asked for the status, or closes; then the metadata are lost.
func TestKeptBeforeAnythingJudges(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]func(d *testDevice) (id string){
		"name": func(d *testDevice) string {
			d.say("s", "text")
			d.setMember("s", "name", "my draft")
			return "s"
		},
		"child": func(d *testDevice) string {
			d.say("s", "text")
			d.setMember("s", "parent_id", "kept")
			return "s"
		},
		"fork": func(d *testDevice) string {
			f, err := slice.Fork(d.t.Context(), d.Store.Store, "kept", nil)
			require.NoError(d.t, err)
			return f.ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.device(t, "a", keepDrafts)
			a.say("kept", "text of it")
			a.setMember("kept", "name", "my draft")
			id := keep(a)
			killed := filepath.Join(t.TempDir(), "sessions") // what the disk has when the program is killed
			require.NoError(t, os.CopyFS(killed, os.DirFS(a.Dir())))
			for _, file := range []string{"metadata.json", "metadata.json.backup"} {
				require.NoError(t, os.RemoveAll(filepath.Join(killed, id, file)))
			}
			next := c.deviceAt(t, killed, "a")
			require.Zero(testenv.Lost(t), next.sync().Pushed)
			require.Equal(t, Local, next.state(id).State)
			require.Empty(t, c.documents())
		})
	}
}

// TestKeptByGivenGlobs: what stays by globs that only the open store has is marked in an archive,
// and so is what is imported again of it.
func TestKeptByGivenGlobs(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(sync string) error{
		"globs":     func(sync string) error { return os.Remove(filepath.Join(sync, "deny.json")) },
		"directory": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.device(t, "a", keepDrafts)
			for _, id := range []string{"s", "open"} {
				a.say(id, "text")
			}
			a.setMember("s", "name", "my draft")
			require.NoError(t, lose(filepath.Join(a.Dir(), ".sessionstore", "sync")))
			require.True(testenv.Lost(t), archive.Kept(t.Context(), a.Store.Store, "s"))
			require.False(t, archive.Kept(t.Context(), a.Store.Store, "open"))
		})
	}
}
