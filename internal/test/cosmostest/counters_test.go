package cosmostest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestCounters checks the charges against the model by hand.
func TestCounters(t *testing.T) {
	t.Parallel()
	var seen []cosmostest.Record
	srv, c := open(t, &cosmostest.Options{Observe: func(r cosmostest.Record) {
		if r.Op.Data() {
			seen = append(seen, r)
		}
	}})
	ctx := t.Context()
	_, err := c.CreateItem(ctx, pk("a"), doc("a", "x", "type", "head"), nil)
	require.NoError(t, err)
	_, err = c.UpsertItem(ctx, pk("a"), doc("a", "x", "type", "head", "d", strings.Repeat("d", 99<<10)), nil)
	require.NoError(t, err)
	_, err = c.ReadItem(ctx, pk("a"), "x", nil)
	require.NoError(t, err)
	_, err = c.ReadItem(ctx, pk("a"), "none", nil)
	require.Equal(t, 404, status(err))
	_, _, err = list{part: "a"}.ids(ctx, c)
	require.NoError(t, err)
	b := c.NewTransactionalBatch(pk("b"))
	b.CreateItem(doc("b", "1", "type", "seg"), nil)
	b.CreateItem(doc("b", "2", "type", "seg"), nil)
	_, err = c.ExecuteTransactionalBatch(ctx, b, nil)
	require.NoError(t, err)

	size := len(srv.Docs("d", "c")[0].Body)
	charges := []float64{
		cosmostest.WriteCharge(1), 2 * cosmostest.WriteCharge(size), cosmostest.ReadCharge(size), 1.24,
		2.8 + 0.25*cosmostest.ReadCharge(size), 2 * cosmostest.WriteCharge(1),
	}
	require.Len(t, seen, len(charges))
	sum := 0.0
	for i, r := range seen {
		require.InDelta(t, charges[i], r.Charge, 0.001, "%d: %s", i, r.Op)
		sum += r.Charge
	}
	counters := srv.Counters()
	require.InDelta(t, sum, counters.ByPartition[`["a"]`].Charge+counters.ByPartition[`["b"]`].Charge, 0.001)
	require.Equal(t, cosmostest.Count{Requests: 1, Charge: seen[5].Charge, Written: 2, Sent: int64(seen[5].Sent)},
		counters.ByPartition[`["b"]`])
	require.Equal(t, 2, counters.ByKind["seg"].Written)
	require.Equal(t, 2, counters.ByKind["head"].Written)
	require.Equal(t, 2, counters.ByOp[cosmostest.OpRead].Requests)
	require.Equal(t, 1, counters.ByStatus[404])
	require.Equal(t, 4, counters.Total.Written)
	_, err = c.ReadItem(ctx, pk("a"), "x", nil)
	require.NoError(t, err)
	require.Equal(t, 2, counters.ByOp[cosmostest.OpRead].Requests, "what was given out is a copy")
	srv.ResetCounters()
	require.Zero(t, srv.Counters().Total)
}

func TestCharges(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1, cosmostest.ReadCharge(1024), 1e-9)
	require.InDelta(t, 10, cosmostest.ReadCharge(100<<10), 1e-9)
	require.InDelta(t, 5.5+0.4, cosmostest.WriteCharge(1024), 1e-9)
	require.InDelta(t, 55+0.4, cosmostest.WriteCharge(100<<10), 1e-9)
}
