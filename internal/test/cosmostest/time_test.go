package cosmostest_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestTime uses the bubble's clock, in which nothing waits.
func TestTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := open(t, nil, "")
		start := time.Now()
		srv.Inject(cosmostest.Data(cosmostest.At(1, cosmostest.Delay(time.Hour))))
		_, err := c.CreateItem(t.Context(), pk("a"), doc("a", "slow"), nil)
		require.Equal(t, 403, status(err), "the signature is too old by then")
		require.Equal(t, time.Hour, time.Since(start))

		srv.Inject(cosmostest.Data(cosmostest.First(
			cosmostest.At(1, cosmostest.Delay(time.Minute)), cosmostest.At(3, cosmostest.Fault{Hold: time.Minute}))))
		for _, tt := range []struct {
			id      string
			written int
		}{{"delayed", 404}, {"held", 0}} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err = c.CreateItem(ctx, pk("a"), doc("a", tt.id), nil)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			_, err = c.ReadItem(t.Context(), pk("a"), tt.id, nil)
			require.Equal(t, tt.written, status(err), tt.id)
		}
	})
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, properties string
		ttl              any
		lives            bool
	}{
		{"the document's", `"defaultTtl":-1`, 60, false},
		{"the container's", `"defaultTtl":60`, nil, false},
		{"the document's over the container's", `"defaultTtl":60`, 3600, true},
		{"never over the container's", `"defaultTtl":60`, -1, true},
		{"off in the container", `"defaultTtl":null`, 60, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
			srv := cosmostest.New(&cosmostest.Options{Now: func() time.Time { return now }})
			require.NoError(t, srv.CreateContainer("d", "c", `{"partitionKey":{"paths":["/pk"]},`+tt.properties+`}`))
			var more []any
			if tt.ttl != nil {
				more = []any{"ttl", tt.ttl}
			}
			require.NoError(t, srv.Put("d", "c", string(doc("a", "x", more...))))
			now = now.Add(59 * time.Second)
			require.Len(t, srv.Docs("d", "c"), 1)
			now = now.Add(time.Second)
			require.Len(t, srv.Docs("d", "c"), map[bool]int{true: 1}[tt.lives])
			require.NoError(t, srv.Put("d", "c", string(doc("a", "x"))), "what expired is no hindrance")
			require.Len(t, srv.Docs("d", "c"), 1)
		})
	}
}

// TestThroughputDebt writes more at once than a second has: the service
// serves it and then refuses until it is paid.
func TestThroughputDebt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := open(t, &cosmostest.Options{Throughput: 100}, "")
		_, err := c.CreateItem(t.Context(), pk("a"), doc("a", "big", "d", strings.Repeat("d", 1<<20)), nil)
		require.NoError(t, err)
		seconds := 0
		for ; status(err) == 429 || seconds == 0; seconds++ {
			_, err = c.ReadItem(t.Context(), pk("a"), "none", nil)
			time.Sleep(time.Second)
		}
		require.Equal(t, 404, status(err))
		require.InDelta(t, srv.Counters().Total.Charge/100, seconds, 1.1)
	})
}

func TestThroughput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := open(t, &cosmostest.Options{Throughput: 100}, "")
		throttled := 0
		for i := range 200 {
			_, err := c.CreateItem(t.Context(), pk("a"), doc("a", strconv.Itoa(i)), nil)
			if err == nil {
				continue
			}
			var answer *azcore.ResponseError
			require.ErrorAs(t, err, &answer)
			require.Equal(t, 429, answer.StatusCode)
			wait, err := time.ParseDuration(answer.RawResponse.Header.Get("x-ms-retry-after-ms") + "ms")
			require.NoError(t, err)
			require.LessOrEqual(t, wait, time.Second)
			time.Sleep(wait)
			throttled++
		}
		charge := srv.Counters().Total.Charge
		require.Positive(t, throttled)
		require.Less(t, charge/100, float64(throttled+2), "no more than the limit in a second")
	})
}

// TestClock lets the client's clock be wrong.
func TestClock(t *testing.T) {
	t.Parallel()
	for skew, code := range map[time.Duration]int{0: 404, 14 * time.Minute: 404, -14 * time.Minute: 404, time.Hour: 403, -time.Hour: 403} {
		srv := cosmostest.New(&cosmostest.Options{Now: func() time.Time { return time.Now().Add(skew) }})
		c, err := connect(t, srv.Endpoint(), srv.Key(), srv.Transport()).NewContainer("d", "c")
		require.NoError(t, err)
		_, err = c.ReadItem(t.Context(), pk("a"), "x", nil)
		require.Equal(t, code, rootStatus(err), "%v: %v", skew, err)
	}
}

// rootStatus is the status of the answer that is the cause of an error.
func rootStatus(err error) int {
	var answer *azcore.ResponseError
	if errors.As(err, &answer) {
		return answer.StatusCode
	}
	return 0
}
