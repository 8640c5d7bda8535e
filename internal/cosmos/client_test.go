package cosmos

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/remote"
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

// Operations on a document of the part p.
func put(id string) op                { return op{kind: upsert, id: id, body: bodyOf(id)} }
func add(id string) op                { return op{kind: create, id: id, body: bodyOf(id)} }
func swap(id string, was ETag) op     { return op{kind: replace, id: id, body: bodyOf(id), etag: was} }
func discard(id string) op            { return op{kind: discards, id: id} }
func discardIf(id string, is ETag) op { return op{kind: discards, id: id, etag: is} }

// counted returns ctx for calls whose requests are counted.
func counted(ctx context.Context) (context.Context, *atomic.Int64) {
	n := &atomic.Int64{}
	return remote.Observed(ctx, func(remote.Request) { n.Add(1) }), n
}

func (c *Client) tokenOf(part string) string { return text(c.sessionToken(part)) }

// namesOf lists the names of all objects of a part.
func namesOf(t *testing.T, c *Client, part string) (names []string) {
	t.Helper()
	for o, err := range c.List(t.Context(), part, remote.Query{}) {
		require.NoError(t, err)
		names = append(names, o.Name)
	}
	return names
}

// TestRetries counts how often requests are made of which the first few fail.
func TestRetries(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault cosmostest.Fault
		fails int // the first ones
		ops   []op
		made  int
		class Class
	}{
		{"put, no answer once", cosmostest.LoseAnswer(), 1, []op{put("a")}, 2, OK},
		{"put, never an answer", cosmostest.LoseAnswer(), 99, []op{put("a")}, 4, Unknown},
		{"put, not done", cosmostest.Drop(), 2, []op{put("a")}, 3, OK},
		{"swap, no answer", cosmostest.LoseAnswer(), 1, []op{add("a")}, 1, Unknown},
		{"swap, throttled", cosmostest.Refuse(http.StatusTooManyRequests, time.Millisecond), 2, []op{add("a")}, 3, OK},
		{"batch of puts, 503", cosmostest.Refuse(http.StatusServiceUnavailable, 0), 3, []op{put("a"), put("b")}, 4, OK},
		{"batch with a swap, 503", cosmostest.Refuse(http.StatusServiceUnavailable, 0), 1, []op{put("a"), add("b")}, 1, Unknown},
		{"batch with a swap, 449", cosmostest.Refuse(449, 0), 1, []op{put("a"), add("b")}, 1, Unknown},
		{"delete, no answer once", cosmostest.LoseAnswer(), 1, []op{discard("none")}, 2, Missing},
		{"wrong key", cosmostest.Refuse(http.StatusUnauthorized, 0), 99, []op{put("a")}, 1, Denied},
		{"no writes in the region", cosmostest.Fault{Status: http.StatusForbidden, SubStatus: 3}, 2, []op{put("a")}, 3, OK},
		{"bad request", cosmostest.Refuse(http.StatusBadRequest, 0), 99, []op{put("a")}, 1, Refused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := cosmostest.New(nil)
				client := connect(t, srv)
				_, err := client.Get(t.Context(), "p", "none", "") // the account has answered before
				require.ErrorIs(t, err, remote.ErrNotExist)
				made := 0
				srv.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
					if made++; made <= tt.fails {
						return tt.fault
					}
					return cosmostest.Fault{}
				}))
				var seen []remote.Request
				client.Observe = func(_ context.Context, r remote.Request) { seen = append(seen, r) }
				ctx, told := counted(t.Context())
				a := client.batch(ctx, "p", tt.ops...)
				require.Equal(t, tt.class, a.Class, "%v", a.Err)
				require.Equal(t, tt.class == OK, a.Err == nil)
				require.Equal(t, tt.made, made)
				require.Len(t, seen, tt.made)
				require.EqualValues(t, tt.made, told.Load())
				if tt.class == OK {
					require.Len(t, a.ETags, len(tt.ops))
					require.NotEmpty(t, client.tokenOf("p"))
					info, err := client.Info(t.Context())
					require.NoError(t, err)
					require.False(t, info.Time.IsZero())
				}
			})
		})
	}
}

// TestGet reads a document that is there, unchanged, changed and gone.
func TestGet(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := connect(t, cosmostest.New(nil))
	_, err := c.Get(ctx, "p", "a", "")
	require.ErrorIs(t, err, remote.ErrNotExist)
	a := c.batch(ctx, "p", put("a"))
	doc, err := c.Get(ctx, "p", "a", "")
	require.NoError(t, err)
	require.Equal(t, "a", doc.Name)
	require.Equal(t, a.ETag(0), ETag(doc.Version))
	_, err = c.Get(ctx, "p", "a", doc.Version)
	require.ErrorIs(t, err, remote.ErrUnchanged)
	require.Equal(t, Changed, c.batch(ctx, "p", swap("a", `"old"`)).Class)
	require.Equal(t, OK, c.batch(ctx, "p", swap("a", ETag(doc.Version))).Class)
	again, err := c.Get(ctx, "p", "a", doc.Version)
	require.NoError(t, err)
	require.NotEqual(t, doc.Version, again.Version)
	require.Equal(t, OK, c.batch(ctx, "p", discard("a")).Class)
	require.Equal(t, Missing, c.batch(ctx, "p", discard("a")).Class)
}

// TestPages reads more rows than a page has.
func TestPages(t *testing.T) {
	t.Parallel()
	c := connect(t, cosmostest.New(nil))
	const n = 2*pageSize + 1
	for i := range n {
		require.Equal(t, OK, c.batch(t.Context(), "p", put(fmt.Sprintf("d%04d", i))).Class)
	}
	names := namesOf(t, c, "p")
	require.Len(t, names, n)
	for i, name := range names {
		require.Equal(t, fmt.Sprintf("d%04d", i), name)
	}
	for range c.List(t.Context(), "p", remote.Query{}) {
		break // a caller may stop at any row
	}
}

// TestLostRemoval loses all requests behind the ones that make a swap. What fits into one batch
// is removed with the swap, also where some of it is gone already; of more the swap tells its
// version.
func TestLostRemoval(t *testing.T) {
	t.Parallel()
	many := []string{"a"}
	for i := range maxOps {
		many = append(many, fmt.Sprint("none-", i))
	}
	for name, tt := range map[string]struct {
		made         int
		remove, left []string
	}{
		"all there":    {1, []string{"a", "b"}, []string{"c", "head"}},
		"one gone":     {2, []string{"a", "none", "c"}, []string{"b", "head"}},
		"several gone": {4, []string{"none-1", "a", "none-2", "b", "none-3"}, []string{"c", "head"}},
		"all gone":     {3, []string{"none-1", "none-2"}, []string{"a", "b", "c", "head"}},
		"no batch":     {1, many, []string{"a", "b", "c", "head"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := cosmostest.New(nil)
				c := connect(t, srv)
				require.Equal(t, OK, c.batch(t.Context(), "p", put("a"), put("b"), put("c")).Class)
				made := 0
				srv.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
					if made++; made > tt.made {
						return cosmostest.Drop()
					}
					return cosmostest.Fault{}
				}))
				v, err := c.Commit(t.Context(), "p", nil, &remote.Swap{Object: remote.Object{Name: "head", Label: []byte("{}")}, Remove: tt.remove})
				require.NoError(t, err)
				srv.Inject(nil)
				time.Sleep(time.Hour)
				o, err := c.Get(t.Context(), "p", "head", "")
				require.NoError(t, err)
				require.Equal(t, v, o.Version)
				require.Equal(t, tt.left, namesOf(t, c, "p"))
			})
		})
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
				a := client.batch(t.Context(), "p", put("a"), add("b"))
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
