package hybrid

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest"
)

// TestLimits sends far more than a limit lets go in a while.
func TestLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 100
		spent := map[int64]float64{}
		most := 0.0
		var mu sync.Mutex
		c := newCloud(t, &cosmostest.Options{Observe: func(r cosmostest.Record) {
			mu.Lock()
			defer mu.Unlock()
			spent[r.At.Unix()] += r.Charge
			most = max(most, r.Charge)
		}})
		a := c.device(t, "a", func(o *Options) { o.Limits.RequestUnitsPerSecond = limit })
		for i := range 20 {
			a.say(fmt.Sprint("s", i), noise(100<<10))
		}
		mu.Lock()
		clear(spent) // what it took to make the container
		most = 0
		mu.Unlock()
		began := time.Now()
		a.sync()
		require.Greater(t, time.Since(began), 5*time.Second)
		for at, sum := range spent {
			require.LessOrEqual(t, sum, limit+most, "second %d", at)
		}
	})
}

func TestLimitOfTheDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a", background, func(o *Options) { o.Limits.RequestUnitsPerDay, o.Interval = 200, time.Hour })
		for i := range 20 {
			a.say(fmt.Sprint("s", i), "one")
		}
		time.Sleep(time.Hour)
		_, err := a.Sync(t.Context())
		require.ErrorIs(t, err, ErrLimit)
		require.Less(t, c.Counters().Total.Charge, 200+50.0)
		for range 10 { // it resumes by itself
			time.Sleep(24 * time.Hour)
		}
		b := c.device(t, "b")
		for i := range 20 {
			b.pull(fmt.Sprint("s", i))
		}
	})
}

// TestLimitOfTheDayOutlivesTheProcess spends a day's limit in several processes,
// of which some are killed.
func TestLimitOfTheDayOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprint("killed ", killed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { spendADay(t, killed) })
		})
	}
}

func spendADay(t *testing.T, killed bool) {
	const limit, sessions = 600, 30
	most := 0.0
	var mu sync.Mutex
	c := newCloud(t, &cosmostest.Options{Observe: func(r cosmostest.Record) {
		mu.Lock()
		defer mu.Unlock()
		most = max(most, r.Charge)
	}})
	dir := filepath.Join(t.TempDir(), "sessions")
	limited := func(o *Options) { o.Limits.RequestUnitsPerDay = limit }
	a := c.deviceAt(t, dir, "a", limited)
	for i := range sessions {
		a.say(fmt.Sprint("s", i), noise(4<<10))
	}
	c.ResetCounters()
	processes := 0
	for {
		_, err := a.Sync(t.Context(), fmt.Sprint("s", processes%sessions))
		if errors.Is(err, ErrLimit) {
			break
		}
		require.NoError(t, err)
		if processes++; !killed {
			require.NoError(t, a.Close())
		}
		a = c.deviceAt(t, dir, "a", limited) // which the other, if it is still there, does not know of
	}
	require.Greater(t, processes, 5)
	total := c.Counters().Total
	require.Less(t, total.Charge, limit+most)
	if !killed {
		require.Greater(t, total.Charge, float64(limit), "nothing of the limit is lost")
	}
	before := total.Requests
	a.say("s0", "local work goes on")
	_, err := a.Sync(t.Context())
	require.ErrorIs(t, err, ErrLimit)
	require.Equal(t, before, c.Counters().Total.Requests)

	require.NoError(t, a.Close())
	a = c.deviceAt(t, dir, "a", limited, background, func(o *Options) { o.Interval = 6 * time.Hour })
	time.Sleep(4 * 24 * time.Hour) // it goes on by itself
	b := c.device(t, "b")
	for i := range sessions {
		b.pull(fmt.Sprint("s", i))
	}
	require.Equal(t, a.texts("s0"), b.texts("s0"))
}
