package cosmos

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestSessionTokenOfAnotherContainer reads with a token that no replica will ever know.
// The read is made without it, and no other request is held up meanwhile.
func TestSessionTokenOfAnotherContainer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, cosmostest.New(nil))
		require.Equal(t, OK, client.Conn("").Batch(t.Context(), "p", Put(bodyOf("a"))).Class)
		c := client.Conn("0:-1#999999")
		doc, err := c.Get(t.Context(), "p", "a", "")
		require.NoError(t, err)
		require.Contains(t, string(doc.Body), `"id":"a"`)
		require.Equal(t, 3, c.Usage().Requests)
		require.NotEqual(t, "0:-1#999999", c.Token())
		require.NotEmpty(t, c.Token())
		require.False(t, client.Budget.Opens().After(time.Now()))
		rows, _, err := client.Conn("0:-1#999999").Page(t.Context(), Names("p"), "")
		require.NoError(t, err)
		require.Len(t, rows, 1)
		doc, err = client.Conn("0:-1#999999").Get(t.Context(), "p", "none", "")
		require.NoError(t, err)
		require.Nil(t, doc)
	})
}

// TestReplicaIsBehind refuses a read once, as a replica that catches up does: the token
// stays, so that nothing older is read.
func TestReplicaIsBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := cosmostest.New(nil)
		client := connect(t, srv)
		c := client.Conn("")
		require.Equal(t, OK, c.Batch(t.Context(), "p", Put(bodyOf("a"))).Class)
		before, reads := c.Token(), 0
		srv.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
			if reads++; reads == 1 {
				return cosmostest.Fault{Status: http.StatusNotFound, SubStatus: 1002}
			}
			return cosmostest.Fault{Stale: cosmostest.MaxStale}
		}))
		doc, err := c.Get(t.Context(), "p", "a", "")
		require.NoError(t, err)
		require.NotNil(t, doc, "a stale replica has none; one that knows the token has")
		require.Equal(t, 2, reads)
		require.Equal(t, before, c.Token())
	})
}
