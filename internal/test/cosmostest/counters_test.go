package cosmostest_test

import (
	"fmt"
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
	}}, `{"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},
		"indexingPolicy":{"includedPaths":[{"path":"/type/?"}],"excludedPaths":[{"path":"/*"}]}}`)
	ctx := t.Context()
	_, err := c.CreateItem(ctx, pk("a"), doc("a", "x", "type", "head"), nil)
	require.NoError(t, err)
	_, err = c.UpsertItem(ctx, pk("a"), doc("a", "x", "type", "head", "d", strings.Repeat("d", 99<<10)), nil)
	require.NoError(t, err)
	_, err = c.ReadItem(ctx, pk("a"), "x", nil)
	require.NoError(t, err)
	_, err = c.ReadItem(ctx, pk("a"), "none", nil)
	require.Equal(t, 404, status(err))
	_, _, err = all(ctx, c, "SELECT c.id FROM c WHERE c.pk = 'a' ORDER BY c.id", pk("a"), nil)
	require.NoError(t, err)
	b := c.NewTransactionalBatch(pk("b"))
	b.CreateItem(doc("b", "1", "type", "seg"), nil)
	b.CreateItem(doc("b", "2", "type", "seg"), nil)
	_, err = c.ExecuteTransactionalBatch(ctx, b, nil)
	require.NoError(t, err)

	size := len(srv.Docs("d", "c")[0].Body)
	const terms = 2 // type, and id always
	charges := []float64{
		cosmostest.WriteCharge(1, terms), 2 * cosmostest.WriteCharge(size, terms), cosmostest.ReadCharge(size), 1.24,
		2.8 + 0.25*cosmostest.ReadCharge(size), 2 * cosmostest.WriteCharge(1, terms),
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

// TestScanCharge filters by what is indexed and by what is not.
func TestScanCharge(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil, `{"partitionKey":{"paths":["/pk"],"version":2},
		"indexingPolicy":{"includedPaths":[{"path":"/type/?"}],"excludedPaths":[{"path":"/*"}]}}`)
	for i := range 10 {
		require.NoError(t, srv.Put("d", "c", string(doc("a", fmt.Sprint(i), "type", i, "other", i))))
	}
	for query, loaded := range map[string]int{
		"c.type = 1": 1, "c.pk = 'a' AND c.type = 1": 1, "c.id = '1'": 1, "c.other = 1": 10, "c.type = 1 AND c.other = 1": 10,
	} {
		srv.ResetCounters()
		rows, _, err := all(t.Context(), c, "SELECT * FROM c WHERE "+query+" ORDER BY c.id", pk("a"), nil)
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.InDelta(t, 2.8+0.25*float64(loaded), srv.Counters().ByOp[cosmostest.OpQuery].Charge, 0.001, query)
	}
}

func TestCharges(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1, cosmostest.ReadCharge(1024), 1e-9)
	require.InDelta(t, 10, cosmostest.ReadCharge(100<<10), 1e-9)
	require.InDelta(t, 5.5, cosmostest.WriteCharge(1024, 0), 1e-9)
	require.InDelta(t, 55, cosmostest.WriteCharge(100<<10, 0), 1e-9)
}
