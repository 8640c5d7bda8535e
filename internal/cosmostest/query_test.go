package cosmostest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

// TestPagesOfFourMB reads documents that fill a page before the rows do.
func TestPagesOfFourMB(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil, "")
	for i := range 6 {
		require.NoError(t, srv.Put("d", "c", string(doc("a", fmt.Sprint(i), "d", strings.Repeat("d", 1500<<10)))))
	}
	pager := c.NewQueryItemsPager("SELECT * FROM c ORDER BY c.id", pk("a"), &azcosmos.QueryOptions{PageSizeHint: -1})
	var pages []int
	for pager.More() {
		r, err := pager.NextPage(t.Context())
		require.NoError(t, err)
		pages = append(pages, len(r.Items))
	}
	require.Equal(t, []int{2, 2, 2}, pages)
	for _, one := range srv.Counters().ByOp {
		require.LessOrEqual(t, one.Sent/int64(one.Requests), int64(4<<20))
	}
}

// TestFullLastPage has a continuation that leads to nothing.
func TestFullLastPage(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil, "")
	for i := range 4 {
		require.NoError(t, srv.Put("d", "c", string(doc("a", fmt.Sprint(i)))))
	}
	for query, want := range map[string][]int{
		"SELECT * FROM c":                                  {2, 2, 0},
		"SELECT TOP 4 * FROM c":                            {2, 2},
		"SELECT TOP 3 * FROM c":                            {2, 1},
		"SELECT * FROM c ORDER BY c.id OFFSET 1 LIMIT 9":   {2, 1},
		"SELECT * FROM c ORDER BY c.id OFFSET 3 LIMIT 1":   {1},
		"SELECT TOP 0 * FROM c":                            {0},
		"SELECT VALUE COUNT(1) FROM c":                     {1},
		"SELECT VALUE c.none FROM c":                       {0},
		"SELECT c.id, COUNT(1) AS n FROM c GROUP BY c.id":  {4},
		"SELECT * FROM c WHERE c.id > '1' ORDER BY c.none": {2, 0},
	} {
		pager := c.NewQueryItemsPager(query, pk("a"), &azcosmos.QueryOptions{PageSizeHint: 2})
		var got []int
		for pager.More() {
			r, err := pager.NextPage(t.Context())
			require.NoError(t, err, query)
			got = append(got, len(r.Items))
		}
		require.Equal(t, want, got, query)
	}
}

// TestForeignContinuation takes a continuation to another query.
func TestForeignContinuation(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil, "")
	for i := range 4 {
		require.NoError(t, srv.Put("d", "c", string(doc("a", fmt.Sprint(i)))))
	}
	o := &azcosmos.QueryOptions{PageSizeHint: 2}
	r, err := c.NewQueryItemsPager("SELECT * FROM c", pk("a"), o).NextPage(t.Context())
	require.NoError(t, err)
	o.ContinuationToken = r.ContinuationToken
	for query, code := range map[string]int{"SELECT * FROM c": 0, "SELECT c.id FROM c": 400} {
		_, _, err = all(t.Context(), c, query, pk("a"), o)
		require.Equal(t, code, status(err), query)
	}
}

// TestHierarchy reads by whole keys and by the beginnings of keys.
func TestHierarchy(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	srv, c := open(t, nil, `{"partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":2}}`)
	for _, key := range []string{`"a":1,"b":2`, `"a":12,"b":2`, `"a":1,"b":22`, `"a":"1","b":2`} {
		require.NoError(t, srv.Put("d", "c", `{"id":"x",`+key+`}`))
	}
	number := azcosmos.NewPartitionKeyNumber
	for want, key := range map[int]azcosmos.PartitionKey{2: number(1), 1: number(1).AppendNumber(2), 0: number(2)} {
		rows, _, err := all(ctx, c, "SELECT * FROM c", key, nil)
		require.NoError(t, err)
		require.Len(t, rows, want)
	}
	_, err := c.ReadItem(ctx, number(1), "x", nil)
	require.Equal(t, 400, status(err))
	require.Equal(t, "1001", substatus(err))
	b := c.NewTransactionalBatch(number(1))
	b.ReadItem("x", nil)
	_, err = c.ExecuteTransactionalBatch(ctx, b, nil)
	require.Equal(t, 400, status(err))
}

// TestPagesBesideWrites writes between pages: what was there all the time
// comes once.
func TestPagesBesideWrites(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"", " ORDER BY c.n", " ORDER BY c.n DESC"} {
		seed := testenv.Seed(t)
		rnd := rand.New(rand.NewPCG(seed, 0))
		srv, c := open(t, nil, "")
		stays := make([]string, 50)
		for i := range stays {
			stays[i] = string(doc("a", fmt.Sprintf("s%02d", i), "n", rnd.IntN(20)))
			require.NoError(t, srv.Put("d", "c", stays[i]))
		}
		pager := c.NewQueryItemsPager("SELECT VALUE c.id FROM c"+order, pk("a"), &azcosmos.QueryOptions{PageSizeHint: 7})
		var got []string
		for n := 0; pager.More(); n++ {
			r, err := pager.NextPage(t.Context())
			require.NoError(t, err)
			for _, item := range r.Items {
				if strings.HasPrefix(string(item), `"s`) {
					got = append(got, string(item))
				}
			}
			if n < 20 {
				require.NoError(t, srv.Put("d", "c", string(doc("a", fmt.Sprintf("w%02d", n), "n", rnd.IntN(20)))))
				require.NoError(t, srv.Put("d", "c", stays[rnd.IntN(len(stays))]), "a replacement changes no order")
				_ = srv.Remove("d", "c", `["a"]`, fmt.Sprintf("w%02d", rnd.IntN(n+1)))
			}
		}
		slices.Sort(got)
		require.Len(t, slices.Compact(slices.Clone(got)), 50, "seed %d", seed)
		require.Len(t, got, 50, "seed %d", seed)
	}
}

// TestKeysOfAllTypes lets the client compute where each key lies: with wrong
// hashes here, documents would not be found.
func TestKeysOfAllTypes(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	srv, c := open(t, &cosmostest.Options{Ranges: 7}, "")
	keys := map[string]azcosmos.PartitionKey{
		`"text"`: pk("text"), `""`: pk(""), `"a key of more than sixteen bytes, as ids are"`: pk("a key of more than sixteen bytes, as ids are"),
		`true`: azcosmos.NewPartitionKeyBool(true), `false`: azcosmos.NewPartitionKeyBool(false),
		`1.5`: azcosmos.NewPartitionKeyNumber(1.5), `-7`: azcosmos.NewPartitionKeyNumber(-7), `null`: azcosmos.NullPartitionKey,
	}
	for i := range 40 {
		s := strings.Repeat("k", i)
		keys[fmt.Sprintf("%q", s)] = pk(s)
	}
	var identities []azcosmos.ItemIdentity
	for value, key := range keys {
		_, err := c.CreateItem(ctx, key, []byte(`{"id":"x","pk":`+value+`}`), nil)
		require.NoError(t, err, value)
		r, err := c.ReadItem(ctx, key, "x", nil)
		require.NoError(t, err, value)
		var got struct{ PK json.RawMessage }
		require.NoError(t, json.Unmarshal(r.Value, &got))
		require.Equal(t, value, string(got.PK))
		rows, _, err := all(ctx, c, "SELECT * FROM c", key, nil)
		require.NoError(t, err)
		require.Len(t, rows, 1, value)
		identities = append(identities, azcosmos.ItemIdentity{ID: "x", PartitionKey: key})
	}
	r, err := c.ReadManyItems(ctx, identities, nil)
	require.NoError(t, err)
	require.Len(t, r.Items, len(keys))
	require.Greater(t, srv.Counters().ByOp[cosmostest.OpQuery].Requests, len(keys)+3, "the client asks several ranges")

	ranges, err := c.ReadFeedRanges(ctx, nil)
	require.NoError(t, err)
	require.Len(t, ranges, 7)
	sum := 0
	for i := range ranges {
		r, err := c.ReadChangeFeed(ctx, &azcosmos.ChangeFeedOptions{FeedRange: &ranges[i]})
		require.NoError(t, err)
		sum += len(r.Items)
	}
	require.Equal(t, len(keys), sum)
}

// TestFeedKeepsBatchesWhole pages through a feed by one document at a time.
func TestFeedKeepsBatchesWhole(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, c := open(t, &cosmostest.Options{FeedPage: 1}, "")
	for _, id := range []string{"a", "b"} {
		_, err := c.CreateItem(ctx, pk("p"), doc("p", id), nil)
		require.NoError(t, err)
	}
	b := c.NewTransactionalBatch(pk("p"))
	b.CreateItem(doc("p", "c"), nil)
	b.ReplaceItem("a", doc("p", "a", "v", 2), nil)
	b.DeleteItem("b", nil)
	b.CreateItem(doc("p", "d"), nil)
	_, err := c.ExecuteTransactionalBatch(ctx, b, nil)
	require.NoError(t, err)
	_, err = c.CreateItem(ctx, pk("p"), doc("p", "e"), nil)
	require.NoError(t, err)
	ranges, err := c.ReadFeedRanges(ctx, nil)
	require.NoError(t, err)
	var pages [][]string
	for token := ""; ; {
		r, err := c.ReadChangeFeed(ctx, &azcosmos.ChangeFeedOptions{FeedRange: &ranges[0], Continuation: &token})
		require.NoError(t, err)
		if len(r.Items) == 0 {
			break
		}
		var page []string
		for _, item := range r.Items {
			page = append(page, fields(item)["id"].(string))
		}
		slices.Sort(page)
		pages, token = append(pages, page), r.ContinuationToken
	}
	require.Equal(t, [][]string{{"a", "c", "d"}, {"e"}}, pages)
}
