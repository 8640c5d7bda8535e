package hybrid

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

// TestPlanResyncForecasts compares plans with what the strict server counts and charges
// for the Resync that follows.
func TestPlanResyncForecasts(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+testenv.Share[uint64](3, 3, testenv.Further[uint64](8, 20)); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			testenv.Repeat(t, seed)
			synctest.Test(t, func(t *testing.T) { forecastResync(t, rand.New(rand.NewPCG(seed, 8))) })
		})
	}
}

func forecastResync(t *testing.T, r *rand.Rand) {
	c := newCloud(t, nil)
	a := c.device(t, "a")
	f := &forecaster{testDevice: a, rand: r}
	f.begin()
	for range r.IntN(12) {
		if f.change(); r.IntN(2) == 0 {
			a.sync()
		}
	}
	ids := a.ids()
	a.say(ids[0], "MARK-one "+noise(6<<10), "MARK-two")
	a.sync()
	fork := a.fork(ids[0])
	a.say(fork, "MARK-fork")
	a.sync()
	ids = append(ids, fork)
	a = c.reopened(t, a, "a", with(marked))
	before := c.documents()
	p, err := a.PlanResync(t.Context(), ids...)
	require.NoError(t, err)
	require.Equal(t, before, c.documents(), "nothing was changed")
	c.ResetCounters()
	require.NoError(t, a.Resync(t.Context(), ids...))
	n := c.Counters().Total
	t.Logf("%+v: %+v", p, n)
	require.Equal(t, n.Written, p.Documents+p.Removed)
	require.Greater(t, n.Received, p.Bytes)
	require.Less(t, n.Received, p.Bytes+16<<10, "requests hold little else")
	removed, stored := 0, 0
	after := c.documents()
	for kind, n := range before {
		if after[kind] < n {
			removed += n - after[kind]
		} else {
			stored += after[kind] - n
		}
	}
	require.GreaterOrEqual(t, p.Removed, removed)
	require.GreaterOrEqual(t, p.Documents, stored)
	require.InDelta(t, n.Charge, p.RequestUnits, 10+n.Charge/10)
	require.InDelta(t, n.Requests, p.Requests, 10+float64(n.Requests)/10)
	again, err := a.PlanResync(t.Context(), ids...)
	require.NoError(t, err)
	require.Zero(t, again.Documents+again.Removed, "there is nothing left to do")
}
