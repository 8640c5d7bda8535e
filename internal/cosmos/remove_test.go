package cosmos_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/cosmos/memory"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// backends calls test with a connection to a container in memory, and with one to
// the strict server.
func backends(t *testing.T, test func(t *testing.T, c cosmos.Conn)) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { test(t, (&memory.Container{}).Conn("")) })
	})
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			srv := cosmostest.New(nil)
			client, err := cosmos.Open(srv.Endpoint(), srv.Key(), nil, &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: srv.Transport()}})
			require.NoError(t, err)
			require.NoError(t, cosmos.Provision(t.Context(), client, "db", "sync"))
			container, err := client.NewContainer("db", "sync")
			require.NoError(t, err)
			test(t, (&cosmos.Client{Container: container, Budget: cosmos.NewBudget(0, nil)}).Conn(""))
		})
	})
}

func docOf(pk, id string, n int) []byte {
	return fmt.Appendf(nil, `{"id":%q,"pk":%q,"type":"x","v":1,"n":%d}`, id, pk, n)
}

// put stores documents and returns their ids.
func put(t *testing.T, c cosmos.Conn, pk string, n int) (ids []string) {
	t.Helper()
	for i := range n {
		id := fmt.Sprint("d", i)
		a := c.Batch(t.Context(), pk, cosmos.Put(docOf(pk, id, 0)))
		require.NoError(t, a.Err)
		ids = append(ids, id)
	}
	return ids
}

func names(t *testing.T, c cosmos.Conn, pk string) (ids []string) {
	t.Helper()
	for row, err := range c.Query(t.Context(), cosmos.Names(pk)) {
		require.NoError(t, err)
		var d struct{ ID string }
		require.NoError(t, json.Unmarshal(row, &d))
		ids = append(ids, d.ID)
	}
	return ids
}

// TestDiscard removes more documents than a batch holds, and passes by what is not there.
func TestDiscard(t *testing.T) {
	backends(t, func(t *testing.T, c cosmos.Conn) {
		ids := put(t, c, "p", 250)
		require.NoError(t, cosmos.Discard(t.Context(), c, "p", append(ids[1:], "none")))
		require.Equal(t, []string{"d0"}, names(t, c, "p"))
		require.NoError(t, cosmos.Discard(t.Context(), c, "p", nil))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, cosmos.Discard(ctx, c, "p", ids), context.Canceled)
	})
}
