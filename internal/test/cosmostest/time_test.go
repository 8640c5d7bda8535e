package cosmostest_test

import (
	"context"
	"errors"
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
		srv, c := open(t, nil)
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
