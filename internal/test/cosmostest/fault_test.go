package cosmostest_test

import (
	"net/http/httptest"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestFaults creates a document under each fault: what the client is told,
// and whether the document is there.
func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		fault   cosmostest.Fault
		status  int // -1: no answer
		written bool
	}{
		{"none", cosmostest.Fault{}, 0, true},
		{"refused", cosmostest.Refuse(503, 0), 503, false},
		{"retry with", cosmostest.Refuse(449, 0), 449, false},
		{"throttled", cosmostest.Refuse(429, time.Second), 429, false},
		{"dropped", cosmostest.Drop(), -1, false},
		{"answer lost", cosmostest.LoseAnswer(), -1, true},
		{"duplicated", cosmostest.Duplicate(), 0, true},
		{"retried below the client", cosmostest.Fault{Retried: true}, 409, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, c := open(t, nil)
			srv.Inject(cosmostest.Data(cosmostest.At(1, tt.fault)))
			_, err := c.CreateItem(t.Context(), pk("a"), doc("a", "x"), nil)
			require.Equal(t, tt.status, status(err), "%v", err)
			require.Len(t, srv.Docs("d", "c"), map[bool]int{true: 1}[tt.written])
			if tt.status < 0 {
				require.ErrorIs(t, err, syscall.ECONNRESET)
			}
			_, err = c.UpsertItem(t.Context(), pk("a"), doc("a", "x"), nil)
			require.NoError(t, err, "the fault is of one request")
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil)
	srv.Inject(cosmostest.Data(cosmostest.At(1, cosmostest.Refuse(429, 1234*time.Millisecond))))
	_, err := c.CreateItem(t.Context(), pk("a"), doc("a", "x"), nil)
	var answer *azcore.ResponseError
	require.ErrorAs(t, err, &answer)
	require.Equal(t, "1234", answer.RawResponse.Header.Get("x-ms-retry-after-ms"))
}

// TestBrokenConnection breaks a real one.
func TestBrokenConnection(t *testing.T) {
	t.Parallel()
	srv := cosmostest.New(nil)
	require.NoError(t, srv.CreateContainer("d", "c", ""))
	web := httptest.NewServer(srv)
	t.Cleanup(web.Close)
	c, err := connect(t, web.URL, srv.Key(), web.Client()).NewContainer("d", "c")
	require.NoError(t, err)
	srv.Inject(cosmostest.Data(cosmostest.At(1, cosmostest.LoseAnswer())))
	_, err = c.CreateItem(t.Context(), pk("a"), doc("a", "x"), nil)
	require.Equal(t, -1, status(err), "%v", err)
	_, err = c.CreateItem(t.Context(), pk("a"), doc("a", "x"), nil)
	require.Equal(t, 409, status(err), "%v", err)
}

// TestEcho lets an upsert come once more after a later one.
func TestEcho(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil)
	srv.Inject(cosmostest.Data(cosmostest.At(1, cosmostest.Fault{Echo: 2})))
	upsert := func(v int) {
		_, err := c.UpsertItem(t.Context(), pk("a"), doc("a", "x", "v", v), nil)
		require.NoError(t, err)
	}
	value := func() any {
		r, err := c.ReadItem(t.Context(), pk("a"), "x", nil)
		require.NoError(t, err)
		return fields(r.Value)["v"]
	}
	upsert(1)
	upsert(2)
	require.Equal(t, 1.0, value(), "the first came again when the second request after it arrived")
	upsert(3)
	require.Equal(t, 3.0, value(), "and then no more")
}

func TestStaleReplica(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	srv, c := open(t, nil)
	w, err := c.UpsertItem(ctx, pk("a"), doc("a", "x", "v", 1), nil)
	require.NoError(t, err)
	first := *w.SessionToken
	w, err = c.UpsertItem(ctx, pk("a"), doc("a", "x", "v", 2), nil)
	require.NoError(t, err)
	_, err = c.CreateItem(ctx, pk("a"), doc("a", "y"), nil)
	require.NoError(t, err)
	_, err = c.DeleteItem(ctx, pk("a"), "y", nil)
	require.NoError(t, err)

	value := func(stale int, token *string) any {
		srv.Inject(cosmostest.Data(cosmostest.At(1, cosmostest.Fault{Stale: stale})))
		r, err := c.ReadItem(ctx, pk("a"), "x", &azcosmos.ItemOptions{SessionToken: token})
		require.NoError(t, err)
		return fields(r.Value)["v"]
	}
	require.Equal(t, 2.0, value(0, nil))
	require.Equal(t, 2.0, value(2, nil))
	require.Equal(t, 1.0, value(3, nil))
	require.Equal(t, 1.0, value(3, &first))
	require.Equal(t, 2.0, value(3, w.SessionToken), "the token demands what was written")

	for stale, rows := range map[int]int{0: 1, 1: 2, 2: 1, 4: 0} {
		srv.Inject(cosmostest.Data(cosmostest.At(1, cosmostest.Fault{Stale: stale})))
		got, _, err := list{part: "a"}.ids(ctx, c)
		require.NoError(t, err)
		require.Len(t, got, rows, "without the newest %d writes", stale)
	}
	tag := azcore.ETag(fields(srv.Docs("d", "c")[0].Body)["_etag"].(string))
	srv.Inject(cosmostest.Data(cosmostest.At(1, cosmostest.Fault{Stale: 3})))
	_, err = c.ReplaceItem(ctx, pk("a"), "x", doc("a", "x", "v", 3), &azcosmos.ItemOptions{IfMatchEtag: &tag})
	require.NoError(t, err, "writes see what is newest")
}

// TestShortPages lets pages be as short as the service may make them.
func TestShortPages(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil)
	for i := range 5 {
		require.NoError(t, srv.Put("d", "c", string(doc("a", strconv.Itoa(i)))))
	}
	n := 0
	srv.Inject(func(cosmostest.Request) cosmostest.Fault {
		n++
		return cosmostest.Fault{Page: []int{-1, 1, -1, -1, 3, 0}[min(n-1, 5)]}
	})
	rows, pages, err := list{part: "a"}.ids(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, []string{"0", "1", "2", "3", "4"}, rows)
	require.Greater(t, len(pages), 4)
}

func TestRandomPlan(t *testing.T) {
	t.Parallel()
	faults := []cosmostest.Fault{cosmostest.Drop(), cosmostest.LoseAnswer()}
	plan, again := cosmostest.Random(7, 0.25, faults...), cosmostest.Random(7, 0.25, faults...)
	count := map[cosmostest.Fault]int{}
	given := map[string]cosmostest.Fault{}
	request := func(n int) cosmostest.Request {
		return cosmostest.Request{Op: cosmostest.OpRead, Partition: strconv.Itoa(n % 7), ID: strconv.Itoa(n)}
	}
	for n := range 4000 {
		f := plan(request(n))
		count[f]++
		given[request(n).ID] = f
	}
	require.InDelta(t, 500, count[cosmostest.Drop()], 100)
	require.InDelta(t, 500, count[cosmostest.LoseAnswer()], 100)
	for n := 3999; n >= 0; n-- {
		r := request(n)
		r.N = n
		require.Equal(t, given[r.ID], again(r), "in another order too")
	}
	differ := 0
	for n := range 4000 {
		if again(request(n)) != given[request(n).ID] {
			differ++
		}
	}
	require.Greater(t, differ, 1000, "the second time is another one")
}
