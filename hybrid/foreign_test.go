package hybrid

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest/foreign"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// abroad makes a container in a server that others wrote.
func abroad(t *testing.T, a foreign.Account, transport policy.Transporter) *cloud {
	t.Helper()
	cred, err := azcosmos.NewKeyCredential(a.Key)
	require.NoError(t, err)
	client, err := azcosmos.NewClientWithKey(a.Endpoint, cred, &azcosmos.ClientOptions{
		ClientOptions: policy.ClientOptions{Transport: transport},
	})
	require.NoError(t, err)
	testenv.Cleanup(t, client.Close)
	db := "test-" + (*jitter.Source)(nil).Name(6)
	require.NoError(t, cosmos.Provision(t.Context(), client, db, testContainer))
	testenv.Cleanup(t, func() {
		d, err := client.NewDatabase(db)
		require.NoError(t, err)
		_, _ = d.Delete(context.Background(), nil) // the servers end anyhow; an account is tidied as far as it goes
	})
	container, err := client.NewContainer(db, testContainer)
	require.NoError(t, err)
	return &cloud{container: container, database: db}
}

// journey is what users do, on whatever server.
func journey(t *testing.T, c *cloud) {
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", numbered("x", 0, 30)...)
	a.say("s", noise(600<<10), "after the long line")
	a.appendTo("s", "events.jsonl", events("a", 0, 30))
	a.sync()
	a.requireTold(b, "s")
	b.pull()
	require.Equal(t, a.file("s", "transcript.jsonl"), b.file("s", "transcript.jsonl"))
	require.Equal(t, a.file("s", "events.jsonl"), b.file("s", "events.jsonl"))
	b.say("s", "from b")
	b.sync()
	a.say("s", "from a")
	conflicts := a.sync("s").Conflicts
	require.Len(t, conflicts, 1)
	require.Equal(t, b.texts("s"), a.texts("s"))
	a.cutTo("s", 10)
	a.sync()
	b.sync()
	require.Equal(t, numbered("x", 0, 10), b.texts("s"))
	a.requireTold(b, conflicts[0].KeptAs)
	b.pull(conflicts[0].KeptAs)
	require.Equal(t, a.texts(conflicts[0].KeptAs), b.texts(conflicts[0].KeptAs))
	branches, err := b.Histories(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, branches, 2)
	require.NoError(t, b.Restore(t.Context(), "s", branches[0]))
	_, err = b.Check(t.Context(), "s", nil)
	require.NoError(t, err)
	list, err := a.Remote(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, list)
	n := 0
	for _, err := range a.engine.Connect().Entries(t.Context(), a.engine.UID(), "", time.Unix(1, 0)) {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, len(list), n)
	pruneAbroad(t, a, b)
	for _, id := range []string{conflicts[0].KeptAs, "s"} {
		require.NoError(t, a.Remove(t.Context(), id))
	}
	_, err = c.device(t, "c").Pull(t.Context(), "s")
	require.ErrorIs(t, err, ErrRemoved)
}

// pruneAbroad merges and removes segments until nothing is left to be done.
func pruneAbroad(t *testing.T, a, b *testDevice) {
	a.sync("s")
	for i := range gc.MinRun {
		a.say("s", fmt.Sprint("small ", i))
		a.sync("s")
	}
	merged := a.prune(atOnceOf(), "s")
	require.Equal(t, 1, merged.Segments)
	require.GreaterOrEqual(t, merged.Merged, gc.MinRun)
	garbage, removed := merged.Removed+merged.Waiting, merged.Removed
	require.Equal(t, merged.Merged-1, garbage, "the former head needs one of them")
	for left := merged.Waiting; left > 0; { // servers tell the time in seconds
		time.Sleep(300 * time.Millisecond)
		r := a.prune(atOnceOf(), "s")
		left, removed = r.Waiting, removed+r.Removed
	}
	require.Equal(t, garbage, removed)
	_, err := b.Check(t.Context(), "s", nil)
	require.NoError(t, err)
	b.sync("s")
	require.Equal(t, a.texts("s"), b.texts("s"))
}

// TestJourney makes the journey with the strict server, which is there for each test.
func TestJourney(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { journey(t, newCloud(t, nil)) })
}

func TestVercel(t *testing.T) {
	t.Parallel()
	a := foreign.Vercel(t)
	journey(t, abroad(t, a, a.Client))
}

// TestCosmium does the same with cosmium, which has no compare-and-swap: nothing
// happens there at the same time.
func TestCosmium(t *testing.T) {
	t.Parallel()
	a := foreign.Cosmium(t)
	c := abroad(t, a, a.Client)
	c.alone = true
	journey(t, c)
}

// TestRealAccount does the same with the account of COSMOS_ENDPOINT, by the key
// COSMOS_KEY. It makes a database there and removes it.
func TestRealAccount(t *testing.T) {
	t.Parallel()
	if a, ok := foreign.Real(t); ok {
		journey(t, abroad(t, a, a.Client))
	}
}

// TestVercelFaults lets each request of a scenario fail once: it does not
// arrive, its answer is lost, or the server is busy.
func TestVercelFaults(t *testing.T) {
	t.Parallel()
	account := foreign.Vercel(t)
	for _, how := range testenv.Some(t, 1, "drop", "lose", "503") {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			step := testenv.Share(40, 40, testenv.Further(6, 1))
			for n := 1 + testenv.Rand(t).IntN(step); ; n += step {
				f := &breaker{client: account.Client, how: how}
				c := abroad(t, account, f)
				f.at = f.n.Load() + int64(n)
				travel(t, c.device(t, "a"), c.device(t, "b"), n, false)
				if f.n.Load() < f.at {
					require.Greater(t, n, 10)
					return
				}
			}
		})
	}
}

// breaker breaks the connection at one request.
type breaker struct {
	client *http.Client
	n      atomic.Int64
	at     int64
	how    string // drop it, lose its answer, or answer 503
}

func (b *breaker) Do(r *http.Request) (*http.Response, error) {
	if b.n.Add(1) != b.at {
		return b.client.Do(r)
	}
	switch b.how {
	case "503":
		return &http.Response{
			Status: "503 Service Unavailable", StatusCode: http.StatusServiceUnavailable, Body: http.NoBody, Request: r,
			Header: http.Header{"X-Ms-Substatus": {"0"}}, // of the service, and not of what stands before it
		}, nil
	case "lose":
		answer, err := b.client.Do(r)
		if err != nil {
			return nil, err
		}
		if err := answer.Body.Close(); err != nil {
			return nil, err
		}
	}
	return nil, errBroken
}

var errBroken = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET} // as of a connection
