package cosmostest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest"
)

// TestSplit splits the partitions between the pages of a query: requests are
// refused until it is complete, then the old continuation yields what is left.
func TestSplit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		srv, c := open(t, &cosmostest.Options{Ranges: 3}, "")
		var identities []azcosmos.ItemIdentity
		for i := range 30 {
			p := fmt.Sprint("p", i%10)
			_, err := c.CreateItem(ctx, pk(p), doc(p, fmt.Sprint(i), "n", i), nil)
			require.NoError(t, err)
			identities = append(identities, azcosmos.ItemIdentity{ID: fmt.Sprint(i), PartitionKey: pk(p)})
		}
		before, err := c.ReadFeedRanges(ctx, nil)
		require.NoError(t, err)
		require.Len(t, before, 3)
		feed := map[string]bool{}
		feedAll(t, c, before[:1], feed) // the client knows the ranges now

		page := func(next *string) (azcosmos.QueryItemsResponse, error) {
			return c.NewQueryItemsPager("SELECT VALUE c.n FROM c ORDER BY c.n", pk("p4"),
				&azcosmos.QueryOptions{PageSizeHint: 1, ContinuationToken: next}).NextPage(ctx)
		}
		first, err := page(nil)
		require.NoError(t, err)
		require.NoError(t, srv.Split("d", "c", time.Minute))
		_, err = page(first.ContinuationToken)
		require.Equal(t, 410, status(err), "%v", err)
		require.Equal(t, "1007", substatus(err))
		_, err = c.UpsertItem(ctx, pk("p4"), doc("p4", "x"), nil)
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
		require.Equal(t, []string{"4", "14", "24"}, rows)

		_, _, err = all(with(ctx, "x-ms-documentdb-partitionkeyrangeid", "0"), c, "SELECT * FROM c", pk("p4"), nil)
		require.Equal(t, 410, status(err), "the old range")
		require.Equal(t, "1002", substatus(err))
		r, err := c.ReadManyItems(ctx, identities, nil)
		require.NoError(t, err)
		require.Len(t, r.Items, len(identities), "the client learns of the new ranges")
		after, err := c.ReadFeedRanges(ctx, nil)
		require.NoError(t, err)
		require.Len(t, after, 6)
		feed = map[string]bool{}
		feedAll(t, c, after, feed)
		require.Len(t, feed, len(identities))
		require.NoError(t, srv.Split("d", "c", 0))
		require.Error(t, srv.Split("d", "none", 0))
	})
}

// feedAll reads the change feed of ranges, in which each document is once.
func feedAll(t *testing.T, c *azcosmos.ContainerClient, ranges []azcosmos.FeedRange, seen map[string]bool) {
	t.Helper()
	for i := range ranges {
		r, err := c.ReadChangeFeed(t.Context(), &azcosmos.ChangeFeedOptions{FeedRange: &ranges[i]})
		require.NoError(t, err)
		for _, item := range r.Items {
			id := fields(item)["id"].(string)
			require.False(t, seen[id], id)
			seen[id] = true
		}
	}
}
