package hybrid

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
)

// TestNextTryOfAWrongDatabase opens stores with a database that does not exist: by
// calls, and with the background on.
func TestNextTryOfAWrongDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		wrong := func(o *Options) {
			container, err := dial(t, c.Server, c.Key()).NewContainer("nowhere", testContainer)
			require.NoError(t, err)
			o.Remote = cosmos.New(container)
		}
		blocked := func(r *testDevice) Status {
			s := r.state("s")
			require.Equal(t, Blocked, s.State)
			require.ErrorIs(t, s.Err, ErrBlocked)
			require.ErrorContains(t, s.Err, "no such database or container")
			require.True(t, s.NextTry.After(time.Now()), "%v", s.NextTry)
			require.WithinRange(t, s.NextTry, time.Now(), time.Now().Add(16*time.Minute))
			return s
		}
		asked := c.device(t, "asked", wrong)
		asked.say("s", "one")
		_, err := asked.Sync(t.Context())
		require.ErrorIs(t, err, ErrBlocked)
		blocked(asked)

		b := c.device(t, "background", background, wrong)
		b.say("s", "one")
		time.Sleep(time.Minute)
		first := blocked(b)
		c.ResetCounters()
		time.Sleep(time.Until(first.NextTry) - time.Second)
		require.Zero(t, c.Counters().ByOp["create"].Requests)
		time.Sleep(2 * time.Second)
		require.NotZero(t, c.Counters().Total.Requests, "it was tried at the time that it said")
		require.True(t, blocked(b).NextTry.After(first.NextTry))
	})
}
