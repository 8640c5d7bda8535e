package cosmostest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"
)

// TestSplit splits the partitions between the pages of a query: requests are
// refused until it is complete, then the old continuation yields what is left.
func TestSplit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		srv, c := open(t, nil)
		for i := range 3 {
			_, err := c.CreateItem(ctx, pk("a"), doc("a", fmt.Sprint(i)), nil)
			require.NoError(t, err)
		}
		page := func(next *string) (azcosmos.QueryItemsResponse, error) {
			return list{part: "a", rows: 1, next: next}.pager(c).NextPage(ctx)
		}
		first, err := page(nil)
		require.NoError(t, err)
		require.NoError(t, srv.Split("d", "c", time.Minute))
		_, err = page(first.ContinuationToken)
		require.Equal(t, 410, status(err), "%v", err)
		require.Equal(t, "1007", substatus(err))
		_, err = c.UpsertItem(ctx, pk("a"), doc("a", "x"), nil)
		require.Equal(t, 410, status(err))
		time.Sleep(time.Minute)
		rest, _, err := list{part: "a", rows: 1, next: first.ContinuationToken}.ids(ctx, c)
		require.NoError(t, err)
		require.Equal(t, []string{"1", "2"}, rest)
		require.NoError(t, srv.Split("d", "c", 0))
		require.Error(t, srv.Split("d", "none", 0))
	})
}
