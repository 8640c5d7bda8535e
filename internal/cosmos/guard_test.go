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

// guard stores a head and returns its guard.
func guard(t *testing.T, c cosmos.Conn) *cosmos.Guard {
	t.Helper()
	body := docOf("p", "tip", 0)
	a := c.Batch(t.Context(), "p", cosmos.Swap("tip", body, ""))
	require.NoError(t, a.Err)
	return &cosmos.Guard{Conn: c, PK: "p", ID: "tip", Body: body, ETag: a.ETag(0)}
}

// put stores documents and returns what removes them.
func put(t *testing.T, c cosmos.Conn, pk string, n int) (deletes []cosmos.Op) {
	t.Helper()
	for i := range n {
		id := fmt.Sprint("d", i)
		a := c.Batch(t.Context(), pk, cosmos.Put(docOf(pk, id, 0)))
		require.NoError(t, a.Err)
		deletes = append(deletes, cosmos.Delete(id, a.ETag(0)))
	}
	return deletes
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

// TestGuardLeavesWhatWasStoredAnew removes more documents than a batch holds.
func TestGuardLeavesWhatWasStoredAnew(t *testing.T) {
	backends(t, func(t *testing.T, c cosmos.Conn) {
		g := guard(t, c)
		deletes := put(t, c, "p", 250)
		a := c.Batch(t.Context(), "p", cosmos.Put(docOf("p", "d7", 1)))
		require.NoError(t, a.Err)
		a = c.Batch(t.Context(), "p", cosmos.Delete("d9", ""))
		require.NoError(t, a.Err)
		before := g.ETag
		removed, err := g.Apply(t.Context(), deletes)
		require.NoError(t, err)
		require.Equal(t, len(deletes)-2, removed)
		require.Equal(t, []string{"d7", "tip"}, names(t, c, "p"), "one was stored anew")
		require.NotEqual(t, before, g.ETag, "whoever read the tip before has to look again")
		again := *g
		again.ETag = before
		_, err = again.Apply(t.Context(), deletes[:1])
		require.ErrorIs(t, err, cosmos.ErrLost)
	})
}

// TestGuardChangesNothingUnderAnotherTip lets another one replace the head first.
func TestGuardChangesNothingUnderAnotherTip(t *testing.T) {
	backends(t, func(t *testing.T, c cosmos.Conn) {
		g := guard(t, c)
		deletes := put(t, c, "p", 3)
		a := c.Batch(t.Context(), "p", cosmos.Swap("tip", docOf("p", "tip", 1), g.ETag))
		require.NoError(t, a.Err)
		before := names(t, c, "p")
		removed, err := g.Apply(t.Context(), append(deletes, cosmos.Put(docOf("p", "new", 0))))
		require.ErrorIs(t, err, cosmos.ErrLost)
		require.Zero(t, removed)
		require.Equal(t, before, names(t, c, "p"))
		require.ErrorIs(t, g.Replace(t.Context(), docOf("p", "tip", 2), cosmos.Put(docOf("p", "new", 0))), cosmos.ErrLost)
		require.NotContains(t, names(t, c, "p"), "new")
		require.NoError(t, cosmos.Discard(t.Context(), c, "p", []cosmos.Op{cosmos.Delete("tip", "")}))
		_, err = g.Apply(t.Context(), deletes)
		require.ErrorIs(t, err, cosmos.ErrLost, "there is no tip any more")
	})
}

// TestGuardReplaces stores a head with other changes, in one request.
func TestGuardReplaces(t *testing.T) {
	backends(t, func(t *testing.T, c cosmos.Conn) {
		g := guard(t, c)
		for n, count := range []int{0, 3, 99} {
			var docs []cosmos.Op
			for i := range count {
				docs = append(docs, cosmos.Put(docOf("p", fmt.Sprint("page", i), n)))
			}
			requests := c.Usage().Requests
			require.NoError(t, g.Replace(t.Context(), docOf("p", "tip", n+1), docs...))
			require.Equal(t, 1, c.Usage().Requests-requests)
			require.Len(t, names(t, c, "p"), 1+count)
			doc, err := c.Get(t.Context(), "p", "tip", "")
			require.NoError(t, err)
			require.Equal(t, doc.ETag, g.ETag)
			require.Contains(t, string(doc.Body), fmt.Sprintf(`"n":%d`, n+1))
		}
	})
}

// TestDiscard removes what is there, and passes by what is not, or is another one.
func TestDiscard(t *testing.T) {
	backends(t, func(t *testing.T, c cosmos.Conn) {
		deletes := put(t, c, "p", 130)
		a := c.Batch(t.Context(), "p", cosmos.Put(docOf("p", "d1", 1)))
		require.NoError(t, a.Err)
		require.NoError(t, cosmos.Discard(t.Context(), c, "p", append(deletes, cosmos.Delete("none", ""))))
		require.Equal(t, []string{"d1"}, names(t, c, "p"))
		require.NoError(t, cosmos.Discard(t.Context(), c, "p", nil))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, cosmos.Discard(ctx, c, "p", deletes), context.Canceled)
	})
}
