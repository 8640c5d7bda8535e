package hybrid

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// observed notes what the copying does.
type observed struct {
	mu       sync.Mutex // guards what follows
	syncs    []SessionSync
	requests []Request
}

func (o *observed) SessionSynced(_ context.Context, v SessionSync) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.syncs = append(o.syncs, v)
}

func (o *observed) Requested(_ context.Context, r Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(o.requests, r)
}

// TestObserverIsToldWhatSyncReports compares what an observer was told with
// what the calls returned.
func TestObserverIsToldWhatSyncReports(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	o := &observed{}
	r := c.device(t, "laptop", func(opts *Options) { opts.Observer = o })
	r.say("a", "one", "two")
	r.say("b", "three")
	result, err := r.Sync(t.Context(), "a", "b")
	require.NoError(t, err)

	require.Len(t, o.syncs, 2)
	var sum SessionSync
	seen := map[string]Outcome{}
	for _, v := range o.syncs {
		seen[v.Session] = v.Did
		sum.Segments += v.Segments
		sum.Requests += v.Requests
		sum.Bytes += v.Bytes
		sum.RequestUnits += v.RequestUnits
		require.NoError(t, v.Err)
		require.False(t, v.Start.IsZero())
		require.False(t, v.Pull)
	}
	require.Equal(t, map[string]Outcome{"a": Pushed, "b": Pushed}, seen)
	require.Equal(t, result.Segments, sum.Segments)
	require.Equal(t, result.Requests, sum.Requests)
	require.Equal(t, result.Bytes, sum.Bytes)
	require.InDelta(t, result.RequestUnits, sum.RequestUnits, 1e-6)
	require.Len(t, o.requests, sum.Requests)
	units := 0.0
	for _, q := range o.requests {
		require.NotZero(t, q.Status)
		units += q.RequestUnits
	}
	require.InDelta(t, sum.RequestUnits, units, 1e-6)

	o.requests = nil
	_, err = r.Remote(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, o.requests)
	require.Equal(t, http.StatusOK, o.requests[0].Status)
	require.NoError(t, o.requests[0].Err)
}

// TestTurnCost holds what the README tells: by the test server's model of the
// charges, a turn of some kilobytes costs three requests and about 33 request
// units, and a session that is in step one point read when it is asked about.
func TestTurnCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, turnCost)
}

func turnCost(t *testing.T) {
	r := newCloud(t, nil).device(t, "laptop")
	for turn := range 5 {
		r.say("a", strings.Repeat("question ", 50), strings.Repeat("some answer words ", 200))
		result, err := r.Sync(t.Context())
		require.NoError(t, err)
		if turn > 0 { // the first has no head to read
			require.Equal(t, 3, result.Requests)
			require.InDelta(t, 33, result.RequestUnits, 4)
		}
	}
	idle, err := r.Sync(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, idle.Requests)
	require.InDelta(t, 1, idle.RequestUnits, 0.5)
}
