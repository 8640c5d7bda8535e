package cosmostest_test

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/cosmostest/foreign"
)

// TestInterposer puts each fault before a server and looks there what became
// of the request.
func TestInterposer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		fault   cosmostest.Fault
		status  int // -1: no answer
		written bool
		asked   int // requests that reached the server
	}{
		{"none", cosmostest.Fault{}, 0, true, 1},
		{"refused", cosmostest.Refuse(429, time.Second), 429, false, 0},
		{"dropped", cosmostest.Drop(), -1, false, 0},
		{"answer lost", cosmostest.LoseAnswer(), -1, true, 1},
		{"duplicated", cosmostest.Duplicate(), 0, true, 2},
		{"retried", cosmostest.Fault{Retried: true}, 409, true, 2},
		{"delayed", cosmostest.Fault{Delay: time.Minute, Hold: time.Minute}, 0, true, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := cosmostest.New(nil)
				require.NoError(t, srv.CreateContainer("d", "c", ""))
				var seen []cosmostest.Record
				between := cosmostest.Interpose(srv.Transport(), &cosmostest.Options{Observe: func(r cosmostest.Record) {
					if r.Op.Data() {
						seen = append(seen, r)
					}
				}})
				c, err := connect(t, srv.Endpoint(), srv.Key(), between).NewContainer("d", "c")
				require.NoError(t, err)
				between.Inject(cosmostest.Data(cosmostest.At(1, tt.fault)))
				start := time.Now()
				_, err = c.CreateItem(t.Context(), pk("a"), doc("a", "x"), nil)
				require.Equal(t, tt.status, status(err), "%v", err)
				require.Equal(t, tt.fault.Delay+tt.fault.Hold, time.Since(start))
				require.Equal(t, tt.asked, srv.Counters().ByOp[cosmostest.OpCreate].Requests)
				require.Len(t, srv.Docs("d", "c"), map[bool]int{true: 1}[tt.written])
				require.Len(t, seen, 1)
				require.Equal(t, "x", fields(seen[0].Body)["id"])
				require.Equal(t, `["a"]`, seen[0].Partition)
			})
		})
	}
}

// TestInterposerBeforeForeign loses an answer of a server over a network.
func TestInterposerBeforeForeign(t *testing.T) {
	t.Parallel()
	run := func(name, endpoint, key string, between *cosmostest.Interposer) {
		s := newSite(t, endpoint, key, between)
		between.Inject(cosmostest.Data(cosmostest.At(1, cosmostest.LoseAnswer())))
		_, err := s.items.CreateItem(t.Context(), pk("a"), doc("a", "x"), nil)
		require.Equal(t, -1, status(err), "%s: %v", name, err)
		_, err = s.items.ReadItem(t.Context(), pk("a"), "x", nil)
		require.NoError(t, err, name)
	}
	srv := cosmostest.New(nil)
	web := httptest.NewServer(srv)
	t.Cleanup(web.Close)
	run("listener", web.URL+"/", srv.Key(), cosmostest.Interpose(web.Client().Transport, nil))
	a := foreign.Vercel(t)
	run(a.Name, a.Endpoint, a.Key, cosmostest.Interpose(a.Client.Transport, nil))
}
