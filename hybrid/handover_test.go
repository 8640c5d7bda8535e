package hybrid

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// process opens a store of device a, does something, and closes it.
func (c *cloud) process(t *testing.T, dir string, do func(*testDevice), edit ...func(*Options)) {
	t.Helper()
	o := &Options{Remote: cosmos.New(c.container), Project: "demo", User: "ada", Device: "a"}
	for _, e := range edit {
		e(o)
	}
	s, err := Open(t.Context(), dir, o)
	require.NoError(t, err)
	do(&testDevice{s, t})
	require.NoError(t, s.Close())
}

// TestProcessesOfOneTurn has a device whose processes live for one turn each, a
// second apart. What each of them sent, another device finds within two
// intervals by itself, and at once when it asks.
func TestProcessesOfOneTurn(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*Options){
		"Sync":  func(o *Options) { o.Manual = true },
		"Close": background,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud(t, nil)
				dir := filepath.Join(t.TempDir(), "sessions")
				b, asked := c.device(t, "b", background), c.device(t, "c")
				turns := numbered("turn ", 0, 4)
				for i := range turns {
					c.process(t, dir, func(a *testDevice) {
						a.say("s", turns[i])
						if name == "Sync" {
							a.sync()
						}
					}, edit)
					require.Equal(t, 1, asked.pull().Pulled, "turn %d", i)
					require.Equal(t, turns[:i+1], asked.texts("s"))
					time.Sleep(time.Second)
				}
				time.Sleep(2 * time.Minute)
				require.Equal(t, turns, b.texts("s"))
			})
		})
	}
}

// TestNewSessionsArrive looks which sessions the background brings.
func TestNewSessionsArrive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a")
		b, known := c.device(t, "b", background), c.device(t, "k", background, func(o *Options) { o.Background.KnownOnly = true })
		a.say("first", "one")
		a.say("second", "two")
		a.sync()
		time.Sleep(2 * time.Minute)
		require.ElementsMatch(t, []string{"first", "second"}, b.ids())
		require.Empty(t, known.ids())

		require.NoError(t, b.Delete(t.Context(), "second"))
		a.say("second", "more")
		a.say("first", "more")
		a.sync()
		time.Sleep(3 * time.Minute)
		require.Equal(t, []string{"first"}, b.ids(), "what was removed here stays away")
		require.Equal(t, []string{"one", "more"}, b.texts("first"))
		known.pull("first")
		a.say("first", "again")
		a.sync()
		time.Sleep(2 * time.Minute)
		require.Equal(t, []string{"one", "more", "again"}, known.texts("first"))
		require.Equal(t, []string{"first"}, known.ids())
	})
}

// TestSlowSessionDelaysNoOther has a session of which every request takes 25 seconds, and
// one of 8 MB whose requests take ten seconds. Others go on meanwhile.
func TestSlowSessionDelaysNoOther(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]struct {
		size     int
		delay    time.Duration
		requests int // that it takes at least
	}{
		"slow":  {10, 25 * time.Second, 3},
		"large": {8 << 20, 10 * time.Second, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud(t, nil)
				a := c.device(t, "a", background)
				sid, requests := a.engine.SID("slow"), 0
				c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
					if strings.Contains(r.Partition, sid) {
						requests++
						return cosmostest.Delay(slow.delay)
					}
					return cosmostest.Fault{}
				}))
				first := noise(slow.size)
				a.say("slow", first)
				time.Sleep(time.Second)
				a.say("quick", "one")
				time.Sleep(time.Second)
				require.Equal(t, UpToDate, a.state("quick").State)
				require.NotEqual(t, UpToDate, a.state("slow").State)
				a.say("slow", "while it is synced")
				time.Sleep(10 * time.Minute)
				require.Equal(t, UpToDate, a.state("slow").State)
				c.Inject(nil)
				require.GreaterOrEqual(t, requests, slow.requests)
				b := c.device(t, "b")
				b.pull()
				require.Equal(t, []string{first, "while it is synced"}, b.texts("slow"))
			})
		})
	}
}
