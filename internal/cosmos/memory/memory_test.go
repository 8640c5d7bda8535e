package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/cosmos/memory"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

// pair makes the same requests to a container in memory and to the strict
// server. ETags are those of one and the other.
type pair struct {
	t              *testing.T
	memory, server cosmos.Conn
	etags          [2]map[string]cosmos.ETag // by id
	r              *rand.Rand
}

func newPair(t *testing.T, seed uint64) *pair {
	srv := cosmostest.New(nil)
	client, err := cosmos.Open(srv.Endpoint(), srv.Key(), nil, &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: srv.Transport()}})
	require.NoError(t, err)
	require.NoError(t, cosmos.Provision(t.Context(), client, "db", "sync"))
	container, err := client.NewContainer("db", "sync")
	require.NoError(t, err)
	remote := &cosmos.Client{Container: container, Budget: cosmos.NewBudget(0, nil)}
	return &pair{
		t: t, memory: (&memory.Container{}).Conn(""), server: remote.Conn(""),
		etags: [2]map[string]cosmos.ETag{{}, {}}, r: rand.New(rand.NewPCG(seed, 1)),
	}
}

// body is a document with members that queries look at.
func (p *pair) body(id string) []byte {
	return fmt.Appendf(nil, `{"id":%q,"pk":"p","type":%q,"v":1,"st":%q,"end":%d,"project":%q,"updated":"2026-11-%02dT00:00:00Z"}`,
		id, p.pick("seg", "history", "cat"), p.pick("t", "e-1"), p.r.IntN(20), p.pick("x", "y"), 1+p.r.IntN(28))
}

func (p *pair) pick(of ...string) string { return of[p.r.IntN(len(of))] }

// op is one operation for each of both, with the ETags that each gave, or with
// old ones.
func (p *pair) op(id string) (pair [2]cosmos.Op) {
	body, kind, stale := p.body(id), p.r.IntN(5), p.r.IntN(4) == 0
	for i := range pair {
		etag := p.etags[i][id]
		if stale {
			etag = `"old"`
		}
		switch kind {
		case 0:
			pair[i] = cosmos.Put(body)
		case 1:
			pair[i] = cosmos.Swap(id, body, "")
		case 2:
			pair[i] = cosmos.Delete(id, "")
		case 3:
			pair[i] = cosmos.Delete(id, etag)
		default:
			pair[i] = cosmos.Swap(id, body, etag)
		}
	}
	return pair
}

// batch makes a batch of operations on different documents.
func (p *pair) batch(ctx context.Context) {
	var ops [2][]cosmos.Op
	var ids []string
	for _, n := range p.r.Perm(6)[:1+p.r.IntN(4)] {
		ids = append(ids, fmt.Sprint("d", n))
		both := p.op(ids[len(ids)-1])
		ops[0], ops[1] = append(ops[0], both[0]), append(ops[1], both[1])
	}
	a, b := p.memory.Batch(ctx, "p", ops[0]...), p.server.Batch(ctx, "p", ops[1]...)
	require.Equal(p.t, b.Class, a.Class, "%v", b.Err)
	require.Equal(p.t, b.Failed, a.Failed)
	require.Equal(p.t, b.Err == nil, a.Err == nil)
	for i, id := range ids {
		if a.Class == cosmos.OK {
			p.etags[0][id], p.etags[1][id] = a.ETag(i), b.ETag(i)
		}
	}
}

// members are those of a row by which rows are compared.
func (p *pair) rows(ctx context.Context, c cosmos.Conn, q cosmos.Query) (ids []string) {
	for row, err := range c.Query(ctx, q) {
		require.NoError(p.t, err)
		var d struct{ ID string }
		require.NoError(p.t, json.Unmarshal(row, &d))
		ids = append(ids, d.ID)
	}
	return ids
}

// TestAnswersAsTheServer makes random changes and asks everything after each. The
// order of rows that a query does not tell apart is left open.
func TestAnswersAsTheServer(t *testing.T) {
	t.Parallel()
	p := newPair(t, testenv.Seed(t))
	ctx := t.Context()
	for range 400 {
		p.batch(ctx)
		for n := range 6 {
			id := fmt.Sprint("d", n)
			a, err := p.memory.Get(ctx, "p", id, p.etags[0][id])
			require.NoError(t, err)
			b, err := p.server.Get(ctx, "p", id, p.etags[1][id])
			require.NoError(t, err)
			require.Equal(t, b == nil, a == nil, id)
			if a != nil {
				require.Equal(t, b.Same, a.Same)
			}
		}
		for _, q := range []cosmos.Query{
			cosmos.Segments("p", "t", int64(p.r.IntN(20))), cosmos.Histories("p"), cosmos.Names("p"), cosmos.Inventory("p"),
		} {
			require.ElementsMatch(t, p.rows(ctx, p.server, q), p.rows(ctx, p.memory, q))
		}
		require.Equal(t, p.rows(ctx, p.server, cosmos.Names("p")), p.rows(ctx, p.memory, cosmos.Names("p")))
	}
	require.Empty(t, p.rows(ctx, p.memory, cosmos.Names("other")))
	require.Equal(t, p.server.Usage().Documents, p.memory.Usage().Documents)
	require.Equal(t, p.server.Usage().Bytes, p.memory.Usage().Bytes)
}
