package hybrid

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecreateBesideTwoRewinds: a device rewound while another one rewound and wrote on, up
// to as many lines as before. What was written counts, with and without a Recreate between.
func TestRecreateBesideTwoRewinds(t *testing.T) {
	t.Parallel()
	for _, recreates := range []int{0, 1} {
		t.Run(fmt.Sprint(recreates), func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a", under(1)), c.device(t, "b", under(1))
			a.say("s", "apple pear", "two", "three")
			a.sync()
			b.pull()
			b.cutTo("s", 1)
			a.cutTo("s", 2)
			a.say("s", "other")
			a.sync()
			a, b = c.reopened(t, a, "a", under(2)), c.reopened(t, b, "b", under(2))
			for range recreates {
				require.NoError(t, a.Recreate(t.Context(), "s"))
			}
			require.Empty(t, b.sync().Conflicts)
			a.sync()
			require.Equal(t, []string{"apple pear", "two", "other"}, a.texts("s"))
			require.Equal(t, []string{"[redacted:word] pear", "two", "other"}, b.texts("s"), "what is here stays")
			require.Zero(t, a.sync().Pushed+b.sync().Pushed)
		})
	}
}

// TestRecreateThenRewindUnderLaterRules: lines that stay after a rewind keep the form that
// the Recreate gave them, also where the device that rewound has later rules.
func TestRecreateThenRewindUnderLaterRules(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a", under(1)), c.device(t, "b", under(1))
	a.say("s", "one", "apple pear plum", "three", "four")
	a.sync()
	b.pull()
	a, b = c.reopened(t, a, "a", under(2)), c.reopened(t, b, "b", under(3))
	b.cutTo("s", 3)
	require.NoError(t, a.Recreate(t.Context(), "s"))
	require.Equal(t, 1, b.sync().Pushed)
	a.sync()
	require.Equal(t, []string{"one", "apple pear plum", "three"}, a.texts("s"))
	fresh := c.device(t, "fresh", under(3))
	fresh.pull()
	require.Equal(t, []string{"one", "[redacted:word] [redacted:word] plum", "three"}, fresh.texts("s"))
	require.Zero(t, a.sync().Pushed+b.sync().Pushed)
}

// TestRecreateOnceMore: a device knows its lines again that forgot them, also where a
// Recreate gave them a form that no rules of one version give.
func TestRecreateOnceMore(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(a *testDevice) []string{
		"nothing":   func(*testDevice) []string { return []string{"apple pear plum", "two"} },
		"a rewind":  func(a *testDevice) []string { a.cutTo("s", 1); return []string{"apple pear plum"} },
		"a rewrite": func(a *testDevice) []string { a.cutTo("s", 0); a.say("s", "other"); return []string{"other"} },
		"more":      func(a *testDevice) []string { a.say("s", "three"); return []string{"apple pear plum", "two", "three"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a", under(1)), c.device(t, "b")
			b.say("s", "apple pear plum", "two")
			b.sync()
			a.pull()
			a = c.reopened(t, a, "a", under(1))
			require.NoError(t, a.Recreate(t.Context(), "s"))
			a = c.reopened(t, a, "a", under(3))
			require.NoError(t, a.Recreate(t.Context(), "s"))
			require.Empty(t, c.stored(t, "apple", "pear", "plum"))
			want := change(a)
			a.sync()
			requireClosed(t, b.Store)
			forgetStates(t, b)
			b = c.deviceAt(t, b.Dir(), "b", under(3))
			require.Empty(t, b.sync().Conflicts)
			require.Equal(t, want, b.texts("s"))
			a.sync()
			require.Equal(t, want, a.texts("s"))
			require.Equal(t, []string{"s"}, b.ids())
			require.Empty(t, c.stored(t, "apple", "pear", "plum"))
		})
	}
}
