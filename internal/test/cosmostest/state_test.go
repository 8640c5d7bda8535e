package cosmostest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func ids(docs []cosmostest.Doc) (out []string) {
	for _, d := range docs {
		out = append(out, d.Partition+d.ID)
	}
	return out
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil)
	require.NoError(t, srv.Put("d", "c", string(doc("a", "x", "v", 1))))
	tag := azcore.ETag(srv.Docs("d", "c")[0].ETag)
	before := srv.Snapshot()
	_, err := c.UpsertItem(t.Context(), pk("a"), doc("a", "x", "v", 2), nil)
	require.NoError(t, err)
	_, err = c.CreateItem(t.Context(), pk("b"), doc("b", "y"), nil)
	require.NoError(t, err)
	for range 2 {
		srv.Restore(before)
		require.Equal(t, []string{`["a"]x`}, ids(srv.Docs("d", "c")))
		_, err = c.ReplaceItem(t.Context(), pk("a"), "x", doc("a", "x", "v", 3), &azcosmos.ItemOptions{IfMatchEtag: &tag})
		require.NoError(t, err, "the etag is that of then, whatever was written since")
	}
	srv.Wipe()
	require.Empty(t, srv.Docs("d", "c"))
	_, err = c.CreateItem(t.Context(), pk("a"), doc("a", "x"), nil)
	require.NoError(t, err, "the container stays")
}

func TestInspection(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil)
	for _, id := range []string{"2", "1"} {
		_, err := c.CreateItem(t.Context(), pk("b"), doc("b", id), nil)
		require.NoError(t, err)
	}
	require.NoError(t, srv.Put("d", "c", string(doc("a", "3"))))
	docs := srv.Docs("d", "c")
	require.Equal(t, []string{`["a"]3`, `["b"]2`, `["b"]1`}, ids(docs))
	docs[0].Body[0] = 'x'
	require.Equal(t, byte('{'), srv.Docs("d", "c")[0].Body[0], "what is given out is a copy")

	require.NoError(t, srv.Edit("d", "c", `["a"]`, "3", func(body []byte) []byte {
		return []byte(strings.Replace(string(body), `"pk"`, `"damage":1,"pk"`, 1))
	}))
	r, err := c.ReadItem(t.Context(), pk("a"), "3", nil)
	require.NoError(t, err)
	require.Equal(t, 1.0, fields(r.Value)["damage"])
	require.Equal(t, docs[0].ETag, string(r.ETag))
	require.NoError(t, srv.Remove("d", "c", `["a"]`, "3"))
	require.Len(t, srv.Docs("d", "c"), 2)

	require.Error(t, srv.Edit("d", "c", `["a"]`, "3", func(b []byte) []byte { return b }))
	require.Error(t, srv.Remove("d", "c", `["a"]`, "3"))
	require.Error(t, srv.Put("d", "none", `{}`))
	require.Error(t, srv.Put("d", "c", `{"id":"a/b","pk":"a"}`))
	require.Error(t, srv.Put("d", "c", `{`))
	require.Error(t, srv.CreateContainer("d", "c", ""))
}

type token string

func (s token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(s), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// TestBearerToken shows what a token may do: work on documents, no more.
func TestBearerToken(t *testing.T) {
	t.Parallel()
	srv := cosmostest.New(&cosmostest.Options{AAD: func(s string) cosmostest.TokenState {
		return map[string]cosmostest.TokenState{
			"good": cosmostest.TokenAccepted, "old": cosmostest.TokenExpired, "revoked": cosmostest.TokenRevoked, "new": cosmostest.TokenNoRole,
		}[s]
	}})
	require.NoError(t, srv.CreateContainer("d", "c", ""))
	by := func(s token) *azcosmos.Client {
		client, err := azcosmos.NewClient(srv.Endpoint(), s, &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: srv.Transport()}})
		require.NoError(t, err)
		t.Cleanup(client.Close)
		return client
	}
	write := func(client *azcosmos.Client) error {
		c, err := client.NewContainer("d", "c")
		require.NoError(t, err)
		_, err = c.UpsertItem(t.Context(), pk("a"), doc("a", "x"), nil)
		return err
	}
	require.NoError(t, write(by("good")))
	for token, want := range map[token]string{"bad": "401", "old": "401 5006", "revoked": "401 5013", "new": "403 5301"} { // the client asks for the account first
		err := write(by(token))
		require.Equal(t, want, strings.TrimSpace(fmt.Sprint(rootStatus(err), " ", substatus(err))), token)
	}
	_, err := by("good").CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: "e"}, nil)
	require.Equal(t, 403, status(err))
	require.Equal(t, "5300", substatus(err))
}

// TestConcurrency is for the race detector. It runs in a bubble, so that the
// client's waits take no time.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := open(t, nil)
		srv.Inject(cosmostest.Random(1, 0.1, cosmostest.LoseAnswer(), cosmostest.Drop(), cosmostest.Fault{Stale: 3}, cosmostest.Fault{Echo: 2}))
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				p := fmt.Sprint(w % 3)
				for i := range 50 {
					_, _ = c.UpsertItem(t.Context(), pk(p), doc(p, fmt.Sprintf("%d-%d", w, i%5)), nil)
					_, _, _ = list{part: p}.ids(t.Context(), c)
					_, _ = c.DeleteItem(t.Context(), pk(p), fmt.Sprintf("%d-%d", w, i%7), nil)
					srv.Restore(srv.Snapshot())
					_ = srv.Counters()
					_ = srv.Docs("d", "c")
				}
			})
		}
		wg.Wait()
		srv.Inject(nil)
		for w := range 8 {
			p := fmt.Sprint(w % 3)
			_, err := c.UpsertItem(t.Context(), pk(p), doc(p, "last"), nil)
			require.NoError(t, err)
		}
	})
}

// history runs requests that a seed chooses and tells all that the server
// saw and holds.
func history(t *testing.T, seed uint64) (out []string) {
	synctest.Test(t, func(t *testing.T) {
		srv, c := open(t, &cosmostest.Options{Observe: func(r cosmostest.Record) {
			out = append(out, fmt.Sprint(r.N, r.Op, r.Partition, r.ID, r.Status, r.Charge, r.Sent, r.At.UnixNano()))
		}})
		srv.Inject(cosmostest.Random(seed, 0.3, cosmostest.LoseAnswer(), cosmostest.Refuse(503, 0),
			cosmostest.Fault{Echo: 3}, cosmostest.Fault{Retried: true}, cosmostest.Fault{Stale: 5}))
		rnd := rand.New(rand.NewPCG(seed, 0))
		for range 100 {
			p, id := fmt.Sprint(rnd.IntN(3)), fmt.Sprint(rnd.IntN(5))
			switch rnd.IntN(4) {
			case 0:
				_, _ = c.CreateItem(t.Context(), pk(p), doc(p, id), nil)
			case 1:
				_, _ = c.UpsertItem(t.Context(), pk(p), doc(p, id, "v", rnd.IntN(9)), nil)
			case 2:
				_, _ = c.DeleteItem(t.Context(), pk(p), id, nil)
			case 3:
				_, _, _ = list{part: p}.ids(t.Context(), c)
			}
			time.Sleep(time.Second)
		}
		for _, d := range srv.Docs("d", "c") {
			out = append(out, string(d.Body))
		}
	})
	return out
}

func TestDeterminism(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+5; seed++ {
		require.Equal(t, history(t, seed), history(t, seed), "seed %d", seed)
	}
}
