package hybrid

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestPushAndPull(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one", "two", "three")
	got := a.sync()
	require.Equal(t, 1, got.Pushed)
	require.Equal(t, UpToDate, a.state("s").State)
	require.Equal(t, 1, b.pull().Pulled)
	require.Equal(t, []string{"one", "two", "three"}, b.texts("s"))
	for _, name := range []string{"transcript.jsonl", "metadata.json"} {
		require.Equal(t, a.file("s", name), b.file("s", name))
	}
	require.Zero(t, b.pull().Pulled)
	require.Zero(t, b.sync().Pushed)
}

func TestIncrementalPush(t *testing.T) {
	t.Parallel()
	synctest.Test(t, incrementalPush) // after 30 s of a busy machine there would be one more request, for the catalogue
}

func incrementalPush(t *testing.T) {
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", numbered("x", 0, 50)...)
	a.sync("s")
	b.pull("s")
	a.say("s", "more", "and more")
	c.ResetCounters()
	got := a.sync("s")
	n := c.Counters()
	require.Equal(t, 1, got.Segments)
	require.Equal(t, 1, n.ByKind["seg"].Written)
	require.Equal(t, 1, n.ByKind["head"].Written)
	require.Equal(t, 3, n.Total.Requests, "read the tip, one batch, one entry of the catalogue")
	require.Equal(t, 1, b.pull("s").Pulled)
	require.Equal(t, a.file("s", "transcript.jsonl"), b.file("s", "transcript.jsonl"))
	c.ResetCounters()
	a.sync("s")
	n = c.Counters()
	require.Equal(t, 1, n.Total.Requests, "an idle session is one point read")
	require.InDelta(t, 1, n.Total.Charge, 5)
}

func TestRewindGoesToWhoAddedNothing(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", numbered("x", 0, 10)...)
	a.sync()
	b.pull()
	a.cutTo("s", 4)
	a.sync("s")
	require.Equal(t, Rewritten, a.state("s").Last)
	b.sync("s")
	require.Equal(t, numbered("x", 0, 4), b.texts("s"))
	a.sync("s")
	require.Equal(t, numbered("x", 0, 4), a.texts("s"))
	a.say("s", "new way")
	a.sync("s")
	b.sync("s")
	require.Equal(t, append(numbered("x", 0, 4), "new way"), b.texts("s"))
}

func TestDivergenceKeepsBoth(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one", "two")
	a.sync()
	b.pull()
	a.say("s", "from a")
	b.say("s", "from b", "and more")
	a.sync()
	got := b.sync("s")
	require.Len(t, got.Conflicts, 1)
	kept := got.Conflicts[0].KeptAs
	require.NotEmpty(t, kept)
	require.Equal(t, []string{"one", "two", "from a"}, b.texts("s"))
	require.Equal(t, []string{"one", "two", "from b", "and more"}, b.texts(kept))
	md, err := b.Metadata(t.Context(), kept)
	require.NoError(t, err)
	require.Equal(t, "s", md.Text("parent_id"))
	turn, _ := md.Int("forked_from_turn")
	require.Equal(t, 1, turn)
	b.sync()
	a.pull()
	a.pull(kept)
	require.Equal(t, b.texts(kept), a.texts(kept))
	require.Equal(t, b.texts("s"), a.texts("s"))
	require.Empty(t, b.sync().Conflicts)
}

// TestConflictCopyKeepsItsName: the session that keeps a device's history has the name that the
// session had on that device.
func TestConflictCopyKeepsItsName(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	named := func(r *testDevice, name string) {
		_, err := r.UpdateMetadata(t.Context(), "s", func(md *sessionstore.Metadata) error { return md.Set("name", name) })
		require.NoError(t, err)
	}
	a.say("s", "one")
	named(a, "Größe & <ship>")
	a.sync()
	b.pull()
	a.say("s", "from a")
	named(a, "of a")
	b.say("s", "from b")
	a.sync()
	md, err := b.Metadata(t.Context(), b.sync("s").Conflicts[0].KeptAs)
	require.NoError(t, err)
	require.Equal(t, "Größe & <ship>", md.Text("name"))
	md, err = b.Metadata(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, "of a", md.Text("name"))
}

func TestMetadataMerges(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	a.sync()
	b.pull()
	set := func(r *testDevice, name string, v any) {
		_, err := r.UpdateMetadata(t.Context(), "s", func(md *sessionstore.Metadata) error { return md.Set(name, v) })
		require.NoError(t, err)
	}
	set(a, "colour", "red")
	set(b, "taste", "sweet")
	a.sync()
	b.sync()
	a.sync()
	for _, r := range []*testDevice{a, b} {
		md, err := r.Metadata(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, "red", md.Text("colour"))
		require.Equal(t, "sweet", md.Text("taste"))
	}
	require.Equal(t, a.file("s", "metadata.json"), b.file("s", "metadata.json"))
	require.Zero(t, a.sync().Pushed+b.sync().Pushed)
}

func TestWithoutContainer(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	_, err = s.Sync(t.Context())
	require.ErrorIs(t, err, ErrNoRemote)
	_, err = s.Pull(t.Context())
	require.ErrorIs(t, err, ErrNoRemote)
	require.NoError(t, s.Shutdown(t.Context()))
	require.NoError(t, s.Close())
}
