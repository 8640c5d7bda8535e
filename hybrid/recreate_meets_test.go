package hybrid

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestRecreateByTwo lets two devices recreate a session at once, the second between any two
// requests of the first. Nothing is lost, and nothing is there twice.
func TestRecreateByTwo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		r := testenv.Rand(t)
		a, b := c.twoLogs(t)
		requireClosed(t, a.Store)
		requireClosed(t, b.Store)
		began := c.Snapshot()
		saved := saveDirs(t, a.Dir(), b.Dir())
		for n := 1; ; n += sparsely(r, 1) {
			c.Restore(began)
			saved.restore(t)
			w := &tripwire{}
			a = c.deviceAt(t, a.Dir(), "a", under(2), c.over(t, w))
			b = c.deviceAt(t, b.Dir(), "b", under(2))
			tripped := false
			w.arm(n, func() { tripped = true; b.recreate("s") })
			a.recreate("s")
			why := fmt.Sprintf("at request %d", n)
			for range 2 {
				a.sync()
				b.sync()
			}
			require.Zero(t, a.sync().Pushed+b.sync().Pushed, why)
			require.Empty(t, c.stored(t, "pear"), why)
			c.requireBothLogs(t, fmt.Sprint(n))
			require.Equal(t, []string{"s"}, a.ids(), why)
			require.Len(t, c.headOf(t, a.engine.SID("s")).Logs, 2, why)
			requireClosed(t, a.Store)
			requireClosed(t, b.Store)
			if !tripped {
				require.Greater(t, n, 8)
				return
			}
		}
	})
}

// TestRecreateMeetsARule: a rule that comes while it is under way keeps the session here.
func TestRecreateMeetsARule(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.twoLogs(t)
	met := false
	m := &burial{next: c.Transport(), before: func() { met = true; require.NoError(t, a.KeepLocal(t.Context(), "s")) }}
	requireClosed(t, a.Store)
	a = c.deviceAt(t, a.Dir(), "a", under(2), through(t, c, m))
	err := a.Recreate(t.Context(), "s")
	require.True(t, met)
	require.Error(t, err)
	require.Empty(t, c.stored(t, "plum"), "it stays on this machine")
	require.Equal(t, Local, a.state("s").State)
	require.NoError(t, a.Release(t.Context(), "s"))
	require.Equal(t, 1, a.sync("s").Pushed, "and goes on when that ends")
	c.requireBothLogs(t, "")
	require.Zero(t, b.sync().Pushed)
}

// TestRecreateMeetsAPush: a device is sending lines, perhaps under weaker rules. What it
// stores after the session was emptied it removes itself.
func TestRecreateMeetsAPush(t *testing.T) {
	t.Parallel()
	for rules, want := range map[int]error{1: ErrRedaction, 2: nil} {
		t.Run(ruleSets[rules].Version(), func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, _ := c.twoLogs(t)
			m := &meeting{next: c.Transport(), one: upload}
			w := c.device(t, "w", under(1), through(t, c, m))
			w.pull()
			w = c.reopened(t, w, "w", under(rules), through(t, c, m))
			for _, text := range manyRequests() {
				w.say("s", "pear "+text)
			}
			m.met.Store(false)
			m.do = func() { a.recreate("s") }
			_, err := w.Sync(t.Context(), "s")
			require.True(t, m.met.Load())
			require.ErrorIs(t, err, want)
			require.Empty(t, c.stored(t, "pear ")) // without the space it may be part of a noise
			if want == nil {
				require.Zero(t, c.garbage(t, a), "nothing is left behind")
				a.sync()
				require.Len(t, a.texts("s"), 4)
				return
			}
			require.NoError(t, c.reopened(t, w, "w", under(2)).Recreate(t.Context(), "s"))
			a.sync()
			require.Len(t, a.texts("s"), 4)
		})
	}
}

// garbage returns how many documents a Prune of any age would remove.
func (c *cloud) garbage(t *testing.T, d *testDevice) int {
	t.Helper()
	return d.prune(&PruneOptions{Grace: time.Nanosecond, HistoryRetention: -1, Plan: true, All: true}, "s").Removed
}

// TestRemoveEndsARecreate: whoever removes a session for good while another device is about
// to send it anew has the last word.
func TestRemoveEndsARecreate(t *testing.T) {
	t.Parallel()
	for name, remove := range removals() {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " own ", own), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					c := newCloud(t, nil)
					a, b := c.twoLogs(t)
					a = c.buriedBy(t, a)
					if own {
						b = a
					}
					require.NoError(t, remove(b))
					_, err := a.Sync(t.Context())
					require.NoError(t, err)
					require.Empty(t, c.stored(t, "plum"))
					require.Equal(t, Removed, a.state("s").State)
					a.recreate("s")
					require.Equal(t, []string{"plum"}, c.stored(t, "plum"))
				})
			})
		}
	}
}
