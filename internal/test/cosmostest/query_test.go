package cosmostest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestPagesOfFourMB reads rows that fill a page before there are as many as were asked for.
func TestPagesOfFourMB(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil)
	for i := range 6 {
		require.NoError(t, srv.Put("d", "c", string(doc("a", fmt.Sprint(i), "label", strings.Repeat("d", 1500<<10)))))
	}
	_, pages, err := list{part: "a"}.ids(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, []int{2, 2, 2}, pages)
	for _, one := range srv.Counters().ByOp {
		require.LessOrEqual(t, one.Sent/int64(one.Requests), int64(4<<20))
	}
}

// TestFullLastPage has a continuation that leads to nothing.
func TestFullLastPage(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil)
	for i := range 4 {
		require.NoError(t, srv.Put("d", "c", string(doc("a", fmt.Sprint(i)))))
	}
	for l, want := range map[list][]int{
		{}: {2, 2, 0}, {after: "0"}: {2, 1}, {after: "1"}: {2, 0}, {after: "3"}: {0}, {end: "3"}: {2, 1}, {after: "0", end: "1"}: {0},
		{since: 1}: {2, 2, 0}, {since: 1 << 40}: {0},
	} {
		l.part, l.rows = "a", 2
		_, pages, err := l.ids(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, want, pages, "%+v", l)
	}
}

// TestRows selects members, without those that a document does not have.
func TestRows(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil)
	require.NoError(t, srv.Put("d", "c", string(doc("a", "x", "v", 2, "label", []int{1}, "text", "long"))))
	require.NoError(t, srv.Put("d", "c", string(doc("a", "y", "type", "seg"))))
	r, err := list{part: "a"}.pager(c).NextPage(t.Context())
	require.NoError(t, err)
	docs := srv.Docs("d", "c")
	for i, more := range []string{`"label":[1],"v":2`, `"type":"seg"`} {
		own := fields(docs[i].Body)
		require.JSONEq(t, fmt.Sprintf(`{"id":%q,%s,"_etag":%q,"_ts":%.0f}`, docs[i].ID, more, own["_etag"], own["_ts"]), string(r.Items[i]))
	}
}

// TestForeignContinuation takes a continuation to another query.
func TestForeignContinuation(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil)
	for i := range 4 {
		require.NoError(t, srv.Put("d", "c", string(doc("a", fmt.Sprint(i)))))
	}
	r, err := list{part: "a", rows: 2}.pager(c).NextPage(t.Context())
	require.NoError(t, err)
	for l, code := range map[list]int{{part: "a"}: 0, {part: "a", after: "0"}: 400, {part: "a", end: "9"}: 400, {part: "b"}: 400} {
		l.next = r.ContinuationToken
		_, _, err = l.ids(t.Context(), c)
		require.Equal(t, code, status(err), "%+v", l)
	}
}

// TestPagesBesideWrites writes between pages: what was there all the time
// comes once.
func TestPagesBesideWrites(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	srv, c := open(t, nil)
	stays := make([]string, 50)
	for i := range stays {
		stays[i] = string(doc("a", fmt.Sprintf("%02d", i)))
		require.NoError(t, srv.Put("d", "c", stays[i]))
	}
	pager := list{part: "a", rows: 7}.pager(c)
	var got []string
	for n := 0; pager.More(); n++ {
		r, err := pager.NextPage(t.Context())
		require.NoError(t, err)
		for _, item := range r.Items {
			if id := fields(item)["id"].(string); !strings.HasSuffix(id, "w") {
				got = append(got, id)
			}
		}
		if n < 20 {
			id := func() string { return fmt.Sprintf("%02dw", rnd.IntN(50)) }
			require.NoError(t, srv.Put("d", "c", string(doc("a", id()))))
			require.NoError(t, srv.Put("d", "c", stays[rnd.IntN(len(stays))]), "a replacement changes no order")
			_ = srv.Remove("d", "c", `["a"]`, id())
		}
	}
	require.True(t, slices.IsSorted(got), "seed %d", seed)
	require.Len(t, slices.Compact(slices.Clone(got)), 50, "seed %d", seed)
	require.Len(t, got, 50, "seed %d", seed)
}
