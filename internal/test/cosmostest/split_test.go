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
		srv, c := open(t, nil, "")
		for i := range 3 {
			_, err := c.CreateItem(ctx, pk("a"), doc("a", fmt.Sprint(i)), nil)
			require.NoError(t, err)
		}
		page := func(next *string) (azcosmos.QueryItemsResponse, error) {
			return c.NewQueryItemsPager("SELECT c.id FROM c WHERE c.pk = 'a' ORDER BY c.id", pk("a"),
				&azcosmos.QueryOptions{PageSizeHint: 1, ContinuationToken: next}).NextPage(ctx)
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
		rows := []string{string(first.Items[0])}
		for next := first.ContinuationToken; next != nil && *next != ""; {
			r, err := page(next)
			require.NoError(t, err)
			for _, row := range r.Items {
				rows = append(rows, string(row))
			}
			next = r.ContinuationToken
		}
		require.Equal(t, []string{`{"id":"0"}`, `{"id":"1"}`, `{"id":"2"}`}, rows)
		require.NoError(t, srv.Split("d", "c", 0))
		require.Error(t, srv.Split("d", "none", 0))
	})
}
