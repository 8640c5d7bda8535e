package hybrid

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// login gives tokens that count up, each of which is good for an hour.
type login struct {
	mu    sync.Mutex // guards given
	given int
}

func (l *login) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given++
	return azcore.AccessToken{Token: fmt.Sprint("token-", l.given), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// signedIn lets a device sign in by tokens.
func (c *cloud) signedIn(t *testing.T, cred azcore.TokenCredential) func(*Options) {
	container, err := cosmos.Connect(t.Context(), cosmos.Config{Endpoint: c.Endpoint(), Database: testDatabase, Container: testContainer}, cred, c.options())
	require.NoError(t, err)
	return func(o *Options) { o.Remote = container }
}

// TestTroubleThatEnds lets the account answer in each way that ends by itself:
// Status tells of it, the store goes on without a restart, and nothing is lost.
func TestTroubleThatEnds(t *testing.T) {
	t.Parallel()
	refuse := func(f cosmostest.Fault) func(cosmostest.Request) cosmostest.Fault {
		return cosmostest.Data(cosmostest.Always(f))
	}
	noWrites := func(r cosmostest.Request) cosmostest.Fault {
		if r.Op.Writes() {
			return cosmostest.Fault{Status: http.StatusForbidden, SubStatus: 3}
		}
		return cosmostest.Fault{}
	}
	for name, tt := range map[string]struct {
		faults cosmostest.Plan
		split  time.Duration
		state  cosmostest.TokenState // of all tokens meanwhile, where it is another one
		is     error
	}{
		"retry with":       {faults: refuse(cosmostest.Refuse(449, 0)), is: ErrUnreachable},
		"gone":             {faults: refuse(cosmostest.Refuse(http.StatusGone, 0)), is: ErrUnreachable},
		"throttled":        {faults: refuse(cosmostest.Refuse(http.StatusTooManyRequests, 20*time.Second)), is: ErrUnreachable},
		"throttled inside": {faults: refuse(cosmostest.Fault{Status: http.StatusTooManyRequests, Operation: 1}), is: ErrUnreachable},
		"failover":         {faults: noWrites, is: ErrUnreachable},
		"split":            {split: 10 * time.Minute, is: ErrUnreachable},
		"token expired":    {state: cosmostest.TokenExpired, is: ErrUnauthorized},
		"token revoked":    {state: cosmostest.TokenRevoked, is: ErrUnauthorized},
		"role on its way":  {state: cosmostest.TokenNoRole, is: ErrUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var state atomic.Int64 // a cosmostest.TokenState
				state.Store(int64(cosmostest.TokenAccepted))
				c := newCloud(t, &cosmostest.Options{AAD: func(string) cosmostest.TokenState { return cosmostest.TokenState(state.Load()) }})
				a := c.device(t, "a", background, c.signedIn(t, &login{}))
				a.say("s", "one")
				time.Sleep(time.Minute)
				require.Equal(t, UpToDate, a.state("s").State)
				c.Inject(tt.faults)
				if tt.split > 0 {
					require.NoError(t, c.Split(testDatabase, testContainer, tt.split))
				}
				state.Store(max(state.Load(), int64(tt.state)))
				a.say("s", "two")
				a.say("new", "three")
				for range 2 {
					time.Sleep(4*time.Minute + 3*time.Second) // between two tries
					for _, id := range []string{"s", "new"} {
						told := a.state(id)
						require.Equal(t, Deferred, told.State, id)
						require.ErrorIs(t, told.Err, tt.is, id)
						require.NotErrorIs(t, told.Err, ErrBlocked, id)
					}
				}
				time.Sleep(2 * time.Minute) // a split ends by itself
				c.Inject(nil)
				state.Store(int64(cosmostest.TokenAccepted))
				time.Sleep(6*time.Minute + 3*time.Second)
				for _, id := range []string{"s", "new"} {
					require.Equal(t, UpToDate, a.state(id).State, id)
				}
				b := c.device(t, "b")
				_, err := b.Pull(t.Context())
				require.NoError(t, err)
				require.Equal(t, []string{"one", "two"}, b.texts("s"))
				require.Equal(t, []string{"three"}, b.texts("new"))
			})
		})
	}
}

// TestTokenIsReplaced: a store whose token the service takes no more gets another
// one, and its user sees nothing of it.
func TestTokenIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good, cred := "token-1", &login{}
		c := newCloud(t, &cosmostest.Options{AAD: func(token string) cosmostest.TokenState {
			if token == good {
				return cosmostest.TokenAccepted
			}
			return cosmostest.TokenExpired
		}})
		a := c.device(t, "a", c.signedIn(t, cred))
		a.say("s", "one")
		a.sync()
		good = "token-2"
		a.say("s", "two")
		a.sync()
		require.Equal(t, UpToDate, a.state("s").State)
		require.Equal(t, 2, cred.given)
	})
}

// TestSplitWhileASessionIsFetched splits the partitions again and again while a
// session of many documents is brought.
func TestSplitWhileASessionIsFetched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a, b := c.device(t, "a"), c.device(t, "b")
		for i := range 120 { // more documents than a page has
			a.say("s", fmt.Sprint("turn ", i))
			a.sync("s")
		}
		c.ResetCounters()
		queries := 0
		var mu sync.Mutex // guards queries
		c.Inject(func(r cosmostest.Request) cosmostest.Fault {
			mu.Lock()
			defer mu.Unlock()
			if r.Op == cosmostest.OpQuery {
				if queries++; queries%2 == 0 {
					go func() { _ = c.Split(testDatabase, testContainer, 300*time.Millisecond) }()
				}
			}
			return cosmostest.Fault{}
		})
		_, err := b.Pull(t.Context())
		require.NoError(t, err)
		require.Equal(t, a.texts("s"), b.texts("s"))
		_, err = b.Check(t.Context(), "s", nil)
		require.NoError(t, err)
		require.Greater(t, queries, 1)
	})
}
