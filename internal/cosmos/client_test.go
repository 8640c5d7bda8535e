package cosmos

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// connect returns a connection to a container of the strict server.
func connect(t *testing.T, srv *cosmostest.Server) *Client {
	t.Helper()
	client, err := Open(srv.Endpoint(), srv.Key(), nil, &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: srv.Transport()}})
	require.NoError(t, err)
	require.NoError(t, Provision(t.Context(), client, "db", "sync"))
	container, err := client.NewContainer("db", "sync")
	require.NoError(t, err)
	return &Client{Container: container, Budget: NewBudget(0, nil)}
}

func bodyOf(id string) []byte { return fmt.Appendf(nil, `{"id":%q,"pk":"p"}`, id) }

// TestRetries counts how often requests are made of which the first few fail.
func TestRetries(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault cosmostest.Fault
		fails int // the first ones
		ops   []Op
		made  int
		class Class
	}{
		{"put, no answer once", cosmostest.LoseAnswer(), 1, []Op{Put(bodyOf("a"))}, 2, OK},
		{"put, never an answer", cosmostest.LoseAnswer(), 99, []Op{Put(bodyOf("a"))}, 4, Unknown},
		{"put, not done", cosmostest.Drop(), 2, []Op{Put(bodyOf("a"))}, 3, OK},
		{"swap, no answer", cosmostest.LoseAnswer(), 1, []Op{Swap("a", bodyOf("a"), "")}, 1, Unknown},
		{"swap, throttled", cosmostest.Refuse(http.StatusTooManyRequests, time.Millisecond), 2, []Op{Swap("a", bodyOf("a"), "")}, 3, OK},
		{"batch of puts, 503", cosmostest.Refuse(http.StatusServiceUnavailable, 0), 3, []Op{Put(bodyOf("a")), Put(bodyOf("b"))}, 4, OK},
		{"batch with a swap, 503", cosmostest.Refuse(http.StatusServiceUnavailable, 0), 1, []Op{Put(bodyOf("a")), Swap("b", bodyOf("b"), "")}, 1, Unknown},
		{"batch with a swap, 449", cosmostest.Refuse(449, 0), 1, []Op{Put(bodyOf("a")), Swap("b", bodyOf("b"), "")}, 1, Unknown},
		{"wrong key", cosmostest.Refuse(http.StatusUnauthorized, 0), 99, []Op{Put(bodyOf("a"))}, 1, Denied},
		{"no writes in the region", cosmostest.Fault{Status: http.StatusForbidden, SubStatus: 3}, 2, []Op{Put(bodyOf("a"))}, 3, OK},
		{"bad request", cosmostest.Refuse(http.StatusBadRequest, 0), 99, []Op{Put(bodyOf("a"))}, 1, Refused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := cosmostest.New(nil)
				client := connect(t, srv)
				_, err := client.Conn("").Get(t.Context(), "p", "none", "") // the account has answered before
				require.NoError(t, err)
				made := 0
				srv.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
					if made++; made <= tt.fails {
						return tt.fault
					}
					return cosmostest.Fault{}
				}))
				var seen []Request
				client.Observe = func(_ context.Context, r Request) { seen = append(seen, r) }
				c := client.Conn("")
				a := c.Batch(t.Context(), "p", tt.ops...)
				require.Equal(t, tt.class, a.Class, "%v", a.Err)
				require.Equal(t, tt.class == OK, a.Err == nil)
				require.Equal(t, tt.made, made)
				require.Len(t, seen, tt.made)
				require.Equal(t, tt.made, c.Usage().Requests)
				if tt.class == OK {
					require.Equal(t, len(tt.ops), c.Usage().Documents)
					require.Len(t, a.ETags, len(tt.ops))
					require.NotEmpty(t, c.Token())
					require.False(t, c.Time().IsZero())
				}
			})
		})
	}
}

// TestGet reads a document that is there, unchanged, changed and gone.
func TestGet(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := connect(t, cosmostest.New(nil)).Conn("")
	doc, err := c.Get(ctx, "p", "a", "")
	require.NoError(t, err)
	require.Nil(t, doc)
	a := c.Batch(ctx, "p", Put(bodyOf("a")))
	doc, err = c.Get(ctx, "p", "a", "")
	require.NoError(t, err)
	require.Contains(t, string(doc.Body), `"id":"a"`)
	require.Equal(t, a.ETag(0), doc.ETag)
	same, err := c.Get(ctx, "p", "a", doc.ETag)
	require.NoError(t, err)
	require.True(t, same.Same)
	require.Equal(t, doc.ETag, same.ETag)
	require.Equal(t, Changed, c.Batch(ctx, "p", Swap("a", bodyOf("a"), `"old"`)).Class)
	require.Equal(t, OK, c.Batch(ctx, "p", Swap("a", bodyOf("a"), doc.ETag)).Class)
	again, err := c.Get(ctx, "p", "a", doc.ETag)
	require.NoError(t, err)
	require.False(t, again.Same)
	require.NotEqual(t, doc.ETag, again.ETag)
	require.Equal(t, OK, c.Batch(ctx, "p", Delete("a", "")).Class)
	require.Equal(t, Missing, c.Batch(ctx, "p", Delete("a", "")).Class)
}

// TestQueryPages reads more rows than a page has.
func TestQueryPages(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := connect(t, cosmostest.New(nil)).Conn("")
	const n = 2*pageSize + 1
	for i := range n {
		require.Equal(t, OK, c.Batch(ctx, "p", Put(bodyOf(fmt.Sprintf("d%03d", i)))).Class)
	}
	rows := 0
	for row, err := range c.Query(ctx, Names("p")) {
		require.NoError(t, err)
		require.Contains(t, string(row), fmt.Sprintf("d%03d", rows))
		rows++
	}
	require.Equal(t, n, rows)
	for range c.Query(ctx, Names("p")) {
		break // a caller may stop at any row
	}
}

// TestStatusInsideABatch gives an operation of a batch a status of its own.
func TestStatusInsideABatch(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct {
		class Class
		made  int
	}{
		http.StatusTooManyRequests:       {OK, 3},
		http.StatusPreconditionFailed:    {Changed, 1},
		http.StatusRequestEntityTooLarge: {TooLarge, 1},
		http.StatusServiceUnavailable:    {Unknown, 1},
		http.StatusConflict:              {Exists, 1},
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := cosmostest.New(nil)
				client, made := connect(t, srv), 0
				srv.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
					if made++; made > 2 {
						return cosmostest.Fault{}
					}
					return cosmostest.Fault{Status: status, Operation: 2}
				}))
				c := client.Conn("")
				a := c.Batch(t.Context(), "p", Put(bodyOf("a")), Swap("b", bodyOf("b"), ""))
				require.Equal(t, want.class, a.Class, "%v", a.Err)
				require.Equal(t, want.made, made)
				if want.class != OK {
					require.Error(t, a.Err)
					require.Equal(t, 1, a.Failed)
				}
			})
		})
	}
}
