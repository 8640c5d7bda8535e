package hybrid

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest/foreign"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestThreeDevices has three devices take turns in one session, in any order and
// each turn in a process of its own. All requests go through a proxy with faults,
// also those by which a process finds the container.
func TestThreeDevices(t *testing.T) {
	t.Parallel()
	servers := map[string]func(*testing.T){
		"strict server": func(t *testing.T) {
			c := newCloud(t, nil)
			s := httptest.NewServer(c)
			testenv.Cleanup(t, s.Close)
			threeDevices(t, c, errand{Endpoint: s.URL, Key: c.Key()}, s.Client())
		},
		"vercel": func(t *testing.T) {
			a := foreign.Vercel(t)
			c := abroad(t, a, a.Client)
			threeDevices(t, c, errand{Endpoint: a.Endpoint, Key: a.Key, Database: c.database}, a.Client)
		},
	}
	for name, run := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

func threeDevices(t *testing.T, c *cloud, work errand, client *http.Client) {
	for _, how := range []string{"save", "append"} {
		t.Run(how, func(t *testing.T) {
			seed := testenv.Seed(t)
			r := rand.New(rand.NewPCG(seed, 3))
			p := newProxy(t, work.Endpoint, client, seed)
			work := work
			work.Endpoint, work.Session = p.url, how
			root := t.TempDir()
			n, failed := testenv.Share(4, 4, testenv.Further(20, 100)), 0
			start := time.Now()
			for i := range n {
				p.forecast(r)
				device := string("abc"[r.IntN(3)])
				turn := work.by(device, how, fmt.Sprint("turn ", i)).spawn(t, "turns", filepath.Join(root, device))
				for line, ok := turn.Line(); ok; line, ok = turn.Line() {
					failed++
					require.NotContains(t, line, "wrong", "turn %d by %s, faults %v", i, device, p.injected)
					p.weather(0.1, proxyFaults...) // what fails each time ends
				}
				require.Empty(t, turn.End(t), "turn %d by %s, faults %v", i, device, p.injected)
				require.False(t, t.Failed(), "turn %d by %s ended with an error, faults %v", i, device, p.injected)
			}
			took := time.Since(start)
			p.weather(0)
			last := c.device(t, "last")
			last.refresh(how)
			require.Equal(testenv.Lost(t), numbered("turn ", 0, n), last.texts(how))
			branches, err := last.Histories(t.Context(), how)
			require.NoError(t, err)
			require.Empty(t, branches)
			all, err := last.Remote(t.Context())
			require.NoError(t, err)
			require.True(t, slices.ContainsFunc(all, func(r RemoteSession) bool { return r.SessionID == how && r.Messages == n }), "%+v", all)
			t.Logf("%d turns in %.0f s, %d requests, %.0f units, %d calls told of a failure, faults %v",
				n, took.Seconds(), p.requests, p.units, failed, p.injected)
		})
	}
}

// forecast makes the faults of one turn: none, some of any kind, or one kind for
// all requests.
func (p *proxy) forecast(r *rand.Rand) {
	switch r.IntN(4) {
	case 0:
		p.weather(0)
	case 1:
		p.weather(1, proxyFaults[r.IntN(len(proxyFaults))])
	default:
		p.weather(0.3, proxyFaults...)
	}
}
