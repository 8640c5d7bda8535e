package hybrid

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	answer := func(status int, header ...string) error {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &azcore.ResponseError{StatusCode: status, RawResponse: &http.Response{StatusCode: status, Header: h}}
	}
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	tests := []struct {
		name  string
		err   error
		class class
		is    error
		wait  time.Duration
	}{
		{"fine", nil, fine, nil, 0},
		{"no answer", errors.New("connection reset"), shaky, ErrUnreachable, 0},
		{"missing", answer(404), missing, nil, 0},
		{"no container", answer(404, headerSub, noOwner), denied, ErrBlocked, 0},
		{"replica behind", answer(404, headerSub, notYet), shaky, ErrUnreachable, 0},
		{"exists", answer(409), exists, nil, 0},
		{"changed", answer(412), changed, nil, 0},
		{"too big", answer(413), tooBig, nil, 0},
		{"throttled", answer(429, headerWait, "1500"), throttled, ErrUnreachable, 1500 * time.Millisecond},
		{"throttled, part of a millisecond", answer(429, headerWait, "0.5"), throttled, ErrUnreachable, 500 * time.Microsecond},
		{"throttled, no time", answer(429), throttled, ErrUnreachable, 0},
		{"retry with", answer(449), shaky, ErrUnreachable, 0},
		{"timeout", answer(408), shaky, ErrUnreachable, 0},
		{"gone", answer(410), shaky, ErrUnreachable, 0},
		{"server error", answer(500), shaky, ErrUnreachable, 0},
		{"wrong key", answer(401, "Date", now.Format(http.TimeFormat)), denied, ErrBlocked, 0},
		{"wrong clock", answer(403, "Date", now.Add(time.Hour).Format(http.TimeFormat)), denied, ErrClock, 0},
		{"bad request", answer(400), refused, ErrBlocked, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := judge(tt.err, now)
			require.Equal(t, tt.class, v.class)
			require.Equal(t, tt.wait, v.wait)
			if tt.is != nil {
				require.ErrorIs(t, v.err, tt.is)
			}
		})
	}
}

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
