package hybrid

import (
	"os"
	"path"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
)

// requireKeptLate requires that a device says of a session that the cloud has it although
// it stays here, and what removes it there.
func requireKeptLate(t *testing.T, d *testDevice, id string, local, remote int) {
	t.Helper()
	is := d.state(id)
	require.Equal(t, KeptLate, is.State)
	require.Equal(t, []int{local, remote}, []int{is.Local, is.Remote})
	require.ErrorIs(t, is.Err, ErrLocal)
	require.ErrorContains(t, is.Err, "until Remove removes it")
	require.Zero(t, is.NextTry)
}

// TestKeptAfterItWasSent: a session that a rule keeps here since it was sent is not called
// local as long as the cloud has it.
func TestKeptAfterItWasSent(t *testing.T) {
	t.Parallel()
	for name, keep := range keepers {
		for _, ends := range []string{"removed", "removed by another device", "released"} {
			t.Run(name+"/"+ends, func(t *testing.T) {
				t.Parallel()
				c := newCloud(t, nil)
				a, b := c.device(t, "a"), c.device(t, "b")
				a.say("p", "text of the parent")
				a.say("s", "one", "two")
				a.sync()
				a = keep(t, c, a)
				requireKeptLate(t, a, "s", 2, 2) // at once
				a.say("s", "three")
				require.Zero(t, a.sync("s").Pushed)
				requireKeptLate(t, a, "s", 3, 2)
				a = c.reopened(t, a, "a", func(o *Options) { o.Private = a.engine.opts.Private })
				requireKeptLate(t, a, "s", 3, 2)
				a.sync()
				requireKeptLate(t, a, "s", 3, 2)
				switch ends {
				case "removed":
					require.NoError(t, a.Remove(t.Context(), "s"))
				case "removed by another device":
					require.NoError(t, b.Remove(t.Context(), "s"))
					a.sync("s")
				case "released":
					require.NoError(t, a.Release(t.Context(), "s"))
					a = c.reopened(t, a, "a", func(o *Options) { o.Private = []string{} })
					require.Equal(t, 1, a.sync("s").Pushed)
					require.Equal(t, UpToDate, a.state("s").State)
					return
				}
				require.Equal(t, Status{SessionID: "s", State: Local}, a.state("s"))
				require.Zero(t, a.sync().Pushed)
				require.Equal(t, Local, a.state("s").State)
			})
		}
	}
}

// TestKeptAfterItWasSentWithoutState: what a device does not know any more of a session
// that stays here, it asks the cloud once. Of one that was never sent it asks once, too.
func TestKeptAfterItWasSentWithoutState(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one")
	a.sync()
	requireClosed(t, a.Store)
	forgetStates(t, a)
	a = c.deviceAt(t, a.Dir(), "a", func(o *Options) { o.Private = []string{"s", "never"} })
	a.say("never", "one")
	require.Zero(t, a.sync().Pushed)
	requireKeptLate(t, a, "s", 1, 1)
	require.Equal(t, Local, a.state("never").State)
	before := c.Counters().Total.Requests
	a.sync("never")
	require.Equal(t, before, c.Counters().Total.Requests)
}

// TestNameAfterTheFirstTurn: a tool gives a session its name when its first turn was sent.
func TestNameAfterTheFirstTurn(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	var mu sync.Mutex // guards heard
	var heard []Status
	a := c.device(t, "a", func(o *Options) {
		o.Private = []string{"*draft*"}
		o.OnStatus = func(s Status) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, s)
		}
	})
	a.say("s", "the text of a draft", "answer")
	a.sync()
	a.setMember("s", "name", "my draft")
	a.sync()
	requireKeptLate(t, a, "s", 2, 2)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, a.state("s"), heard[len(heard)-1])
}

// TestDamagedRulesAdviseNoRemove: where what must not leave cannot be read, all sessions
// stay, and their status tells that, and not that they are to be removed.
func TestDamagedRulesAdviseNoRemove(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", func(o *Options) { o.Private = []string{"never"} })
	a.say("s", "one")
	a.sync()
	file := filepath.Join(a.Dir(), ".sessionstore", "sync", replica.PrivateFile)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(`{"v":1,"globs":["never","[x"]}`), 0o600))
	later := c.deviceAt(t, a.Dir(), "a")
	for _, d := range []*testDevice{a, later} {
		d.sync()
		require.Equal(t, Local, d.state("s").State)
		require.ErrorIs(t, d.state("s").Err, path.ErrBadPattern)
		require.NotContains(t, d.state("s").Err.Error(), "Remove")
	}
	require.NoError(t, os.WriteFile(file, whole, 0o600))
	require.NotEqual(t, Local, a.state("s").State)
	require.ErrorIs(t, later.state("s").Err, path.ErrBadPattern, "it has to be opened anew")
}
