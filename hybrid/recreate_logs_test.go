package hybrid

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestRecreateOfAnOwnersLog: the owner of a log goes on with it, whatever it has more, also
// where its state is lost or its file was replaced.
func TestRecreateOfAnOwnersLog(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		do      func(c *cloud, b *testDevice) *testDevice
		streams int
		more    []string
	}{
		"more": {func(_ *cloud, b *testDevice) *testDevice {
			b.appendTo("s", "events.jsonl", event("pear more"))
			return b
		}, 2, []string{"[redacted:word] more"}},
		"replaced": {func(_ *cloud, b *testDevice) *testDevice { b.put("s", "events.jsonl", event("pear other")); return b }, 3, []string{"[redacted:word] other"}},
		"later rules": {func(c *cloud, b *testDevice) *testDevice {
			b = c.reopened(b.t.(*testing.T), b, "b", under(3))
			b.appendTo("s", "events.jsonl", event("more"))
			return b
		}, 2, []string{"more"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.twoLogs(t)
			b = one.do(c, b)
			a.recreate("s")
			require.Equal(t, 1, b.sync().Pushed)
			require.Zero(t, b.sync().Pushed)
			require.Len(t, c.headOf(t, a.engine.SID("s")).Logs, one.streams)
			require.Empty(t, c.stored(t, "pear"))
			c.requireBothLogs(t, "", one.more...)
		})
	}
}

// TestRecreateOfWhatIsOnlyThere: a file here was removed. The cloud still has it, and keeps
// it. A log that was cut here is sent as it is here.
func TestRecreateOfWhatIsOnlyThere(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.twoLogs(t)
	first := a.file("s", "events.jsonl")
	a.appendTo("s", "events.jsonl", event("pear cut"))
	a.sync()
	a.put("s", "events.jsonl", first)
	require.NoError(t, os.Remove(filepath.Join(a.Dir(), "s", "config.md")))
	a.recreate("s")
	require.Empty(t, c.stored(t, "pear"))
	c.requireBothLogs(t, "")
	require.Equal(t, "[redacted:word] plum\n", c.device(t, "other", under(2)).pulled("s").file("s", "config.md"))
	require.Zero(t, b.sync().Pushed)
	a.appendTo("s", "events.jsonl", event("pear again")+event("after it"))
	a.sync()
	c.requireBothLogs(t, "later", "[redacted:word] again", "after it")
}

// TestRecreateOfALogThatAnotherGoesOn: the session was deleted, and its first device is away.
// Another one, whose log goes on behind that device's, sends both, each as its own.
func TestRecreateOfALogThatAnotherGoesOn(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.twoLogs(t)
	b.remove("s")
	b.recreate("s")
	require.Len(t, c.headOf(t, b.engine.SID("s")).Logs, 2)
	c.requireBothLogs(t, "")
	a.appendTo("s", "events.jsonl", event("more of a"))
	a.sync()
	c.requireBothLogs(t, "later", "more of a")
	require.Len(t, c.headOf(t, b.engine.SID("s")).Logs, 2)
	require.Zero(t, a.sync().Pushed+b.sync().Pushed)
}

// TestRecreateIsHeardOfByWhoForgot: a device begins to recreate a session, and loses its files
// of it. Another one recreates it; the first one has the log of a device that is gone.
func TestRecreateIsHeardOfByWhoForgot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a, _ := c.twoLogs(t)
		d := c.device(t, "d", under(2))
		d.pull()
		a = c.buriedBy(t, a)
		require.NoError(t, os.Remove(filepath.Join(a.Dir(), "s", "transcript.jsonl")))
		_, err := a.Sync(t.Context(), "s")
		require.ErrorIs(t, err, ErrDeferred, "an empty transcript takes the place of none")
		require.NoError(t, a.Delete(t.Context(), "s"))
		require.NoError(t, os.RemoveAll(filepath.Join(d.Dir(), ".sessionstore", "sync")))
		d = c.reopened(t, d, "d", under(2))
		d.recreate("s")
		a.sync("s")
		a.sync("s")
		require.Len(t, a.texts("s"), 2)
		fresh := c.device(t, "fresh", under(2)).pulled("s")
		require.Contains(t, fresh.logTexts("s"), strings.TrimSuffix(event("[redacted:word] plum of b"), "\n"))
	})
}
