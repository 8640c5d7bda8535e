package hybrid

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestRewindReachesWhoForgotUnderLaterRules: a device that lost what it knew, and has lines
// that another one rewound, follows the rewind, also where the rules of today would send
// these lines in another form.
func TestRewindReachesWhoForgotUnderLaterRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		more  []string // that the other device added before, and this one never had
		stay  int
	}{
		"what stays has no form":           {[]string{"one", "two", "pear"}, nil, 1},
		"what stays has another form":      {[]string{"apple pear", "two", "pear"}, nil, 1},
		"more was rewound":                 {[]string{"one", "pear", "three"}, []string{"four", "apple pear"}, 1},
		"nothing of it stays":              {[]string{"pear", "two"}, nil, 0},
		"the beginning was replaced since": {[]string{"pear", "two"}, []string{"three"}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud := newCloud(t, nil)
			a, b := cloud.device(t, "a", under(1)), cloud.device(t, "b", under(1))
			a.say("s", c.lines...)
			a.sync()
			b.pull()
			a.say("s", c.more...)
			a.sync()
			requireClosed(t, b.Store)
			forgetStates(t, b)
			a, b = cloud.reopened(t, a, "a", under(2)), cloud.deviceAt(t, b.Dir(), "b", under(2))
			a.cutTo("s", max(0, c.stay))
			if c.stay < 0 {
				a.say("s", "pear other")
			}
			require.Equal(t, 1, a.sync().Pushed)
			want := a.texts("s")
			require.Empty(t, b.sync().Conflicts)
			require.Len(t, want, int(cloud.headOf(t, a.engine.SID("s")).Transcript.N))
			a.sync()
			require.Equal(t, want, a.texts("s"))
			require.Len(t, b.texts("s"), len(want))
			require.Equal(t, []string{"s"}, b.ids())
			require.Empty(t, cloud.headOf(t, a.engine.SID("s")).Histories.Branches)
		})
	}
}

// TestSmallFileWaitsForLaterRules: a small file that changed under rules of which a sync
// sent nothing goes once, under those of today.
func TestSmallFileWaitsForLaterRules(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", under(1))
	a.say("s", "one")
	a.put("s", "config.md", "as it was\n")
	a.sync()
	a.put("s", "config.md", "apple pear\n")
	time.Sleep(50 * time.Millisecond) // so that the file is not read again
	c.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Refuse(401, 0) }))
	_, err := a.Sync(t.Context())
	require.Error(t, err, "what was found out is kept")
	c.Inject(nil)
	a = c.reopened(t, a, "a", under(2))
	require.Equal(t, 1, a.sync().Pushed)
	b := c.device(t, "b", under(2))
	b.pull()
	require.Equal(t, "[redacted:word] [redacted:word]\n", b.file("s", "config.md"))
	require.Zero(t, a.sync().Pushed)
	require.Equal(t, "apple pear\n", a.file("s", "config.md"))
}
