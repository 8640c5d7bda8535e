package cosmos

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/throttle"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestSessionTokenOfAnotherContainer reads with a token that no replica will ever know.
// The read is made without it, and no other request is held up meanwhile.
func TestSessionTokenOfAnotherContainer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, cosmostest.New(nil))
		require.NoError(t, client.batch(t.Context(), "p", put("a")).Err)
		holds := func() { client.tokens["p"] = "0:-1#999999" }
		holds()
		ctx, made := counted(t.Context())
		b := throttle.NewBudget(0, nil)
		doc, err := throttle.New(client, b, nil).Get(ctx, "p", "a", "")
		require.NoError(t, err)
		require.Equal(t, "a", doc.Name)
		require.EqualValues(t, 3, made.Load())
		require.NotEqual(t, "0:-1#999999", client.tokenOf("p"))
		require.NotEmpty(t, client.tokenOf("p"))
		require.False(t, b.Opens().After(time.Now()))
		holds()
		require.Equal(t, []string{"a"}, namesOf(t, client, "p"))
		holds()
		_, err = client.Get(t.Context(), "p", "none", "")
		require.ErrorIs(t, err, remote.ErrNotExist)
	})
}

// TestReplicaIsBehind refuses a read once, as a replica that catches up does: the token
// stays, so that nothing older is read.
func TestReplicaIsBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := cosmostest.New(nil)
		client := connect(t, srv)
		require.NoError(t, client.batch(t.Context(), "p", put("a")).Err)
		before, reads := client.tokenOf("p"), 0
		srv.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
			if reads++; reads == 1 {
				return cosmostest.Fault{Status: http.StatusNotFound, SubStatus: 1002}
			}
			return cosmostest.Fault{Stale: cosmostest.MaxStale}
		}))
		_, err := client.Get(t.Context(), "p", "a", "")
		require.NoError(t, err, "a stale replica has none; one that knows the token has")
		require.Equal(t, 2, reads)
		require.Equal(t, before, client.tokenOf("p"))
	})
}

// TestTokensOfParts: a part's token is that of its own answers, and none is lost when an older
// answer comes late.
func TestTokensOfParts(t *testing.T) {
	t.Parallel()
	c := &Remote{}
	for _, tt := range []struct{ part, token, want string }{
		{"p", "0:-1#10", "0:-1#10"},
		{"q", "0:-1#3", "0:-1#3"},
		{"p", "0:-1#9", "0:-1#10"},
		{"p", "", "0:-1#10"},
		{"p", "0:-1#11#1=5", "0:-1#11#1=5"},
		{"p", "0:-1#11#1=4", "0:-1#11#1=4"},
		{"p", "0:-1#2#1=6", "0:-1#11#1=4"},
		{"p", "0:1#2#1=6", "0:1#2#1=6"}, // the account failed over
		{"p", "2:1#1", "2:1#1"},         // the partition was split
		{"p", "2:7", "2:7"},
		{"p", "2:6", "2:7"},
		{"p", "2:x", "2:x"},
		{"p", "2:6", "2:6"},
		{"q", "0:-1#2", "0:-1#3"},
	} {
		c.note(tt.part, nil, tt.token, false)
		require.Equal(t, tt.want, c.tokenOf(tt.part), tt.token)
	}
	require.Empty(t, c.tokenOf("r"))
}

// TestReadsWhatItWrote reads what was written, from replicas that are behind, while answers of
// others come.
func TestReadsWhatItWrote(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := cosmostest.New(nil)
		client := connect(t, srv)
		first := client.batch(t.Context(), "p", put("a"))
		last := first.version(0)
		srv.Inject(cosmostest.Data(cosmostest.Always(cosmostest.Fault{Stale: cosmostest.MaxStale})))
		for range 10 {
			a := client.batch(t.Context(), "p", swap("a", last))
			require.NoError(t, a.Err)
			last = a.version(0)
			_, err := client.Commit(t.Context(), "q", []remote.Object{{Name: "b", Label: []byte("{}")}}, nil)
			require.NoError(t, err)
			doc, err := client.Get(t.Context(), "p", "a", "")
			require.NoError(t, err)
			require.Equal(t, last, azcore.ETag(doc.Version))
			for o, err := range client.List(t.Context(), "p", remote.Query{}) {
				require.NoError(t, err)
				require.Equal(t, last, azcore.ETag(o.Version))
			}
		}
	})
}

// TestKnownObjectAfterStart reads objects of which a version is known by a client that knows no
// token, as after a start of the program, from replicas that lack them. What is there is found.
func TestKnownObjectAfterStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := cosmostest.New(nil)
		before := connect(t, srv)
		v, err := before.Commit(t.Context(), "p", nil, &remote.Swap{Object: remote.Object{Name: "a", Label: []byte("{}"), Body: []byte("one")}})
		require.NoError(t, err)
		start := func() *Remote {
			srv.Inject(cosmostest.Data(cosmostest.Always(cosmostest.Fault{Stale: cosmostest.MaxStale})))
			return New(before.container)
		}
		c := start()
		_, err = c.Get(t.Context(), "p", "a", v)
		require.ErrorIs(t, err, remote.ErrUnchanged)
		require.NotEmpty(t, c.tokenOf("p"))
		o, err := start().Get(t.Context(), "p", "a", "former")
		require.NoError(t, err)
		require.Equal(t, []any{"one", v}, []any{string(o.Body), o.Version})
		require.NoError(t, before.Delete(t.Context(), "p", []string{"a"}))
		_, err = start().Get(t.Context(), "p", "a", v)
		require.ErrorIs(t, err, remote.ErrNotExist)
		c = start()
		srv.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
			if r.Op == cosmostest.OpBatch {
				return cosmostest.Refuse(http.StatusServiceUnavailable, 0)
			}
			return cosmostest.Fault{}
		}))
		_, err = c.Get(t.Context(), "p", "a", v)
		require.ErrorIs(t, err, remote.ErrUnreachable)
	})
}
