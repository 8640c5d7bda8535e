package cosmostest_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestConsistency reads from a replica that lacks the newest write, without and with a
// session token that demands it, at each level of the account.
func TestConsistency(t *testing.T) {
	t.Parallel()
	const newest, older = 2.0, 1.0
	for level, reads := range map[cosmostest.Consistency]struct{ plain, demanded float64 }{
		cosmostest.Strong:           {newest, newest},
		cosmostest.BoundedStaleness: {newest, newest},
		cosmostest.Session:          {older, newest},
		cosmostest.ConsistentPrefix: {older, older},
		cosmostest.Eventual:         {older, older},
	} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			srv, c := open(t, &cosmostest.Options{Consistency: level})
			token := ""
			for v := 1; v <= 2; v++ {
				w, err := c.UpsertItem(t.Context(), pk("a"), doc("a", "x", "v", v), nil)
				require.NoError(t, err)
				token = *w.SessionToken
			}
			srv.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Fault{Stale: 1} }))
			read := func(o azcosmos.ItemOptions) (any, error) {
				r, err := c.ReadItem(t.Context(), pk("a"), "x", &o)
				if err != nil {
					return nil, err
				}
				return fields(r.Value)["v"], nil
			}
			got, err := read(azcosmos.ItemOptions{})
			require.NoError(t, err)
			require.Equal(t, reads.plain, got)
			got, err = read(azcosmos.ItemOptions{SessionToken: &token})
			require.NoError(t, err)
			require.Equal(t, reads.demanded, got)
		})
	}
}

func TestConsistencyNames(t *testing.T) {
	t.Parallel()
	for _, level := range []cosmostest.Consistency{cosmostest.Session, cosmostest.Strong, cosmostest.BoundedStaleness, cosmostest.ConsistentPrefix, cosmostest.Eventual} {
		text, err := level.MarshalText()
		require.NoError(t, err)
		var again cosmostest.Consistency
		require.NoError(t, again.UnmarshalText(text))
		require.Equal(t, level, again)
	}
	require.Error(t, new(cosmostest.Consistency).UnmarshalText([]byte("session")))
}
