package hybrid

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/slice"
)

// requireStays requires a session to stay here from now on, whatever is written to it.
func (c *cloud) requireStays(t *testing.T, d *testDevice, id string) {
	t.Helper()
	before := c.Docs(testDatabase, testContainer)
	d.say(id, "text that stays")
	require.Zero(t, d.sync().Pushed)
	want := Local
	for _, doc := range before {
		if doc.ID == segment.HeadID(d.engine.SID(id)) {
			want = KeptLate
		}
	}
	require.Equal(t, want, d.state(id).State)
	require.Equal(t, before, c.Docs(testDatabase, testContainer))
	c.requirePlain(t, nil, []string{"text that stays"})
}

// TestForkOfWhatStaysHere forks a session that stays, and the fork.
func TestForkOfWhatStaysHere(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("p", "text of p", "answer", "more", "answer")
	require.NoError(t, a.KeepLocal(t.Context(), "p"))
	for _, fork := range [][2]string{{"p", "fork"}, {"fork", "fork-of-fork"}} {
		_, err := slice.Fork(t.Context(), a.Store.Store, fork[0], &slice.ForkOptions{Turn: new(1), NewID: fork[1]})
		require.NoError(t, err)
	}
	require.Len(t, a.ids(), 3)
	for _, id := range a.ids() {
		c.requireStays(t, a, id)
	}
	require.Empty(t, c.documents())
}

// TestConflictCopyOfWhatStaysHere: a sync keeps this device's line as a session of its
// own. What was parted stays here from then on, and so does the copy.
func TestConflictCopyOfWhatStaysHere(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	a.sync()
	b.pull()
	a.say("s", "of a")
	b.say("s", "of b")
	a.sync()
	b.sync("s")
	require.Len(t, b.ids(), 2)
	require.NoError(t, b.KeepLocal(t.Context(), "s"))
	for _, id := range b.ids() {
		c.requireStays(t, b, id)
	}
}

// TestRestoredChildOfWhatStaysHere: a child was sent before its parent became local only,
// was removed here, and is brought back.
func TestRestoredChildOfWhatStaysHere(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("p", "one")
	a.child("kid", "p")
	require.Equal(t, 2, a.sync().Pushed)
	require.NoError(t, a.Delete(t.Context(), "kid"))
	require.Equal(t, 1, a.pull("kid").Pulled)
	require.NoError(t, a.KeepLocal(t.Context(), "p"))
	c.requireStays(t, a, "kid")
	require.NoError(t, a.Delete(t.Context(), "p"))
	c.requireStays(t, a, "kid")
}

// TestImportedChildOfWhatStaysHere copies a session of another directory here that names
// a session that stays as its parent, and one whose parent comes later.
func TestImportedChildOfWhatStaysHere(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	other := newCloud(t, nil).device(t, "other")
	other.child("imported", "p")
	other.child("deeper", "imported")
	a := c.device(t, "a", func(o *Options) { o.Private = []string{"Tax*"} })
	require.NoError(t, os.CopyFS(filepath.Join(a.Dir(), "deeper"), os.DirFS(filepath.Join(other.Dir(), "deeper"))))
	a.requireHeld("deeper") // nobody knows its parent
	require.Empty(t, c.documents())
	require.NoError(t, os.CopyFS(filepath.Join(a.Dir(), "imported"), os.DirFS(filepath.Join(other.Dir(), "imported"))))
	a.say("p", "one")
	a.setMember("p", "name", "Tax 2026")
	for _, id := range []string{"p", "imported", "deeper"} {
		c.requireStays(t, a, id)
	}
	require.Empty(t, c.documents())
}

// TestChildOfUnreadableMetadata: a session whose parent cannot be judged is held back.
func TestChildOfUnreadableMetadata(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", func(o *Options) { o.Private = []string{"Tax*"} })
	a.say("p", "one")
	a.child("kid", "p")
	a.child("grandkid", "kid")
	a.put("p", "metadata.json", `{"name": "Tax`)
	require.NoError(t, os.RemoveAll(filepath.Join(a.Dir(), "p", "metadata.json.backup")))
	a.requireHeld("kid")
	for _, id := range []string{"p", "kid", "grandkid"} {
		require.Equal(t, Blocked, a.state(id).State, id)
		require.ErrorIs(t, a.state(id).Err, ErrHeld)
	}
	require.Empty(t, c.documents())
	require.NoError(t, a.Release(t.Context(), "grandkid"))
	_, err := a.Sync(t.Context(), "grandkid")
	require.NoError(t, err)
	c.requirePlain(t, []string{"text of grandkid"}, []string{`"kid"`, "text of kid", "Tax"})
}

// TestWhatComesBackComesAsSent: messages that were removed here come as they were sent.
func TestWhatComesBackComesAsSent(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", under(1))
	a.say("s", "one", "apple two")
	a.sync()
	a.cutTo("s", 1)
	a.sync()
	branches, err := a.Histories(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, branches, 1)
	require.NoError(t, a.Restore(t.Context(), "s", branches[0]))
	require.Equal(t, []string{"one", "[redacted:word] two"}, a.texts("s"))
}

// TestNothingLeavesWithoutAContainer calls what sends, in a store that has none.
func TestNothingLeavesWithoutAContainer(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "sessions"), nil)
	require.NoError(t, err)
	defer requireClosed(t, s)
	d := &testDevice{s, t}
	d.say("s", "one")
	_, err = s.Sync(t.Context())
	require.ErrorIs(t, err, ErrNoRemote)
	_, err = s.Check(t.Context(), "s", &CheckOptions{Mend: true})
	require.ErrorIs(t, err, ErrNoRemote)
	require.ErrorIs(t, s.Restore(t.Context(), "s", History{}), ErrNoRemote)
	require.ErrorIs(t, s.Remove(t.Context(), "s"), ErrNoRemote)
	require.Equal(t, Local, d.state("s").State)
}
