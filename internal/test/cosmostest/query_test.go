package cosmostest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

// TestPagesOfFourMB reads documents that fill a page before the rows do.
func TestPagesOfFourMB(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil, "")
	for i := range 6 {
		require.NoError(t, srv.Put("d", "c", string(doc("a", fmt.Sprint(i), "d", strings.Repeat("d", 1500<<10)))))
	}
	pager := c.NewQueryItemsPager("SELECT * FROM c WHERE c.pk = 'a' ORDER BY c.id", pk("a"), &azcosmos.QueryOptions{PageSizeHint: -1})
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
		"SELECT * FROM c WHERE c.pk = 'a' ORDER BY c.id":                    {2, 2, 0},
		"SELECT c.none FROM c WHERE c.pk = 'a' ORDER BY c.id":               {2, 2, 0},
		"SELECT * FROM c WHERE c.pk = 'a' AND c.id > '0' ORDER BY c.id":     {2, 1},
		"SELECT * FROM c WHERE c.pk = 'a' AND c.id > '1' ORDER BY c.none":   {2, 0},
		"SELECT * FROM c WHERE c.pk = 'a' AND c.none > 1 ORDER BY c.id":     {0},
		"SELECT c.id FROM c WHERE c.pk = 'a' AND c.id <= '2' ORDER BY c.id": {2, 1},
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
	r, err := c.NewQueryItemsPager("SELECT * FROM c WHERE c.pk = 'a' ORDER BY c.id", pk("a"), o).NextPage(t.Context())
	require.NoError(t, err)
	o.ContinuationToken = r.ContinuationToken
	for query, code := range map[string]int{
		"SELECT * FROM c WHERE c.pk = 'a' ORDER BY c.id": 0, "SELECT c.id FROM c WHERE c.pk = 'a' ORDER BY c.id": 400,
	} {
		_, _, err = all(t.Context(), c, query, pk("a"), o)
		require.Equal(t, code, status(err), query)
	}
}

// TestPagesBesideWrites writes between pages: what was there all the time
// comes once.
func TestPagesBesideWrites(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"c.id", "c.n", "c.n DESC"} {
		seed := testenv.Seed(t)
		rnd := rand.New(rand.NewPCG(seed, 0))
		srv, c := open(t, nil, "")
		stays := make([]string, 50)
		for i := range stays {
			stays[i] = string(doc("a", fmt.Sprintf("s%02d", i), "n", rnd.IntN(20)))
			require.NoError(t, srv.Put("d", "c", stays[i]))
		}
		pager := c.NewQueryItemsPager("SELECT c.id FROM c WHERE c.pk = 'a' ORDER BY "+order, pk("a"), &azcosmos.QueryOptions{PageSizeHint: 7})
		var got []string
		for n := 0; pager.More(); n++ {
			r, err := pager.NextPage(t.Context())
			require.NoError(t, err)
			for _, item := range r.Items {
				if id := fields(item)["id"].(string); strings.HasPrefix(id, "s") {
					got = append(got, id)
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
