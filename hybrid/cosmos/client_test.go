package cosmos

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/throttle"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// connect returns a connection to a container of the strict server.
func connect(t *testing.T, srv *cosmostest.Server) *Remote {
	t.Helper()
	client, err := openAccount(srv.Endpoint(), srv.Key(), nil, &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: srv.Transport()}})
	require.NoError(t, err)
	require.NoError(t, Provision(t.Context(), client, "db", "sync"))
	container, err := client.NewContainer("db", "sync")
	require.NoError(t, err)
	return New(container)
}

// bounded returns the client within a budget, as the sync uses it.
func (c *Remote) bounded() remote.Remote { return throttle.New(c, throttle.NewBudget(0, nil), nil) }

func bodyOf(id string) []byte { return fmt.Appendf(nil, `{"id":%q,"pk":"p"}`, id) }

// Operations on a document of the part p.
func put(id string) op { return op{kind: upsert, id: id, body: bodyOf(id)} }
func add(id string) op { return op{kind: create, id: id, body: bodyOf(id)} }
func swap(id string, was azcore.ETag) op {
	return op{kind: replace, id: id, body: bodyOf(id), etag: was}
}
func discard(id string) op { return op{kind: discards, id: id} }

// counted returns ctx for calls whose requests are counted.
func counted(ctx context.Context) (context.Context, *atomic.Int64) {
	n := &atomic.Int64{}
	return remote.Observed(ctx, func(remote.Request) { n.Add(1) }), n
}

func (c *Remote) tokenOf(part string) string { return text(c.sessionToken(part)) }

// namesOf lists the names of all objects of a part.
func namesOf(t *testing.T, c *Remote, part string) (names []string) {
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
	put := func(names ...string) func(context.Context, remote.Remote) error {
		return func(ctx context.Context, r remote.Remote) error {
			_, err := r.Commit(ctx, "p", objects(names...), nil)
			return err
		}
	}
	swap := func(name string, beside ...string) func(context.Context, remote.Remote) error {
		return func(ctx context.Context, r remote.Remote) error {
			v, err := r.Commit(ctx, "p", objects(beside...), &remote.Swap{Object: objects(name)[0]})
			require.Equal(t, err == nil, v != "")
			return err
		}
	}
	discard := func(ctx context.Context, r remote.Remote) error { return r.Delete(ctx, "p", []string{"none"}) }
	tests := []struct {
		name  string
		fault cosmostest.Fault
		fails int // the first ones
		call  func(context.Context, remote.Remote) error
		made  int
		is    error
	}{
		{"put, no answer once", cosmostest.LoseAnswer(), 1, put("a"), 2, nil},
		{"put, never an answer", cosmostest.LoseAnswer(), 99, put("a"), 4, remote.ErrUnreachable},
		{"put, not done", cosmostest.Drop(), 2, put("a"), 3, nil},
		{"swap, no answer", cosmostest.LoseAnswer(), 1, swap("a"), 1, remote.ErrUnknown},
		{"swap, throttled", cosmostest.Refuse(http.StatusTooManyRequests, time.Millisecond), 2, swap("a"), 3, nil},
		{"swap, busy", cosmostest.Refuse(http.StatusServiceUnavailable, time.Millisecond), 1, swap("a"), 1, remote.ErrUnknown},
		{"batch of puts, 503", cosmostest.Refuse(http.StatusServiceUnavailable, 0), 3, put("a", "b"), 4, nil},
		{"batch with a swap, 503", cosmostest.Refuse(http.StatusServiceUnavailable, 0), 1, swap("b", "a"), 1, remote.ErrUnknown},
		{"batch with a swap, 449", cosmostest.Refuse(449, 0), 1, swap("b", "a"), 1, remote.ErrUnknown},
		{"delete, no answer once", cosmostest.LoseAnswer(), 1, discard, 2, nil},
		{"wrong key", cosmostest.Refuse(http.StatusUnauthorized, 0), 99, put("a"), 1, remote.ErrBlocked},
		{"no writes in the region", cosmostest.Fault{Status: http.StatusForbidden, SubStatus: 3}, 2, put("a"), 3, nil},
		{"bad request", cosmostest.Refuse(http.StatusBadRequest, 0), 99, put("a"), 1, remote.ErrRefused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := cosmostest.New(nil)
				client := connect(t, srv)
				r := client.bounded()
				_, err := r.Get(t.Context(), "p", "none", "") // the account has answered before
				require.ErrorIs(t, err, remote.ErrNotExist)
				made := 0
				srv.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
					if made++; made <= tt.fails {
						return tt.fault
					}
					return cosmostest.Fault{}
				}))
				ctx, told := counted(t.Context())
				require.ErrorIs(t, tt.call(ctx, r), tt.is)
				require.Equal(t, tt.made, made)
				require.EqualValues(t, tt.made, told.Load())
				if tt.is == nil && !strings.HasPrefix(tt.name, "delete") { // nothing is told of what is missing
					require.NotEmpty(t, client.tokenOf("p"))
					info, err := r.Info(t.Context())
					require.NoError(t, err)
					require.False(t, info.Time.IsZero())
				}
			})
		})
	}
}

func objects(names ...string) (all []remote.Object) {
	for _, name := range names {
		all = append(all, remote.Object{Name: name, Label: []byte("{}")})
	}
	return all
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
	require.Equal(t, a.version(0), azcore.ETag(doc.Version))
	_, err = c.Get(ctx, "p", "a", doc.Version)
	require.ErrorIs(t, err, remote.ErrUnchanged)
	require.ErrorIs(t, c.batch(ctx, "p", swap("a", `"old"`)).Err, remote.ErrChanged)
	require.NoError(t, c.batch(ctx, "p", swap("a", azcore.ETag(doc.Version))).Err)
	again, err := c.Get(ctx, "p", "a", doc.Version)
	require.NoError(t, err)
	require.NotEqual(t, doc.Version, again.Version)
	require.NoError(t, c.batch(ctx, "p", discard("a")).Err)
	require.ErrorIs(t, c.batch(ctx, "p", discard("a")).Err, remote.ErrNotExist)
}

// TestPages reads more rows than a page has.
func TestPages(t *testing.T) {
	t.Parallel()
	c := connect(t, cosmostest.New(nil))
	const n = 2*pageSize + 1
	for i := range n {
		require.NoError(t, c.batch(t.Context(), "p", put(fmt.Sprintf("d%04d", i))).Err)
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
				require.NoError(t, c.batch(t.Context(), "p", put("a"), put("b"), put("c")).Err)
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
		is   error
		made int
	}{
		http.StatusTooManyRequests:       {nil, 3},
		http.StatusPreconditionFailed:    {remote.ErrChanged, 1},
		http.StatusRequestEntityTooLarge: {remote.ErrTooLarge, 1},
		http.StatusServiceUnavailable:    {remote.ErrUnknown, 1},
		http.StatusConflict:              {remote.ErrChanged, 1},
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := cosmostest.New(nil)
				client, made := connect(t, srv), 0
				fails := 2
				srv.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
					if made++; made > fails {
						return cosmostest.Fault{}
					}
					return cosmostest.Fault{Status: status, Operation: 2}
				}))
				_, err := client.bounded().Commit(t.Context(), "p", objects("a"), &remote.Swap{Object: objects("b")[0]})
				require.ErrorIs(t, err, want.is)
				require.Equal(t, want.made, made)
				if want.is != nil {
					fails = made + 1
					a := client.batch(t.Context(), "p", put("a"), add("b"))
					require.Error(t, a.Err)
					require.Equal(t, 1, a.Failed)
				}
			})
		})
	}
}
