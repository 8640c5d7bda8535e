package cosmos

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// login gives tokens that count up, each of which is good for an hour.
type login struct {
	mu     sync.Mutex // guards what follows
	given  int
	claims []string
	stuck  bool // it gives the same token again
	fails  error
}

func (l *login) GetToken(_ context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails != nil {
		return azcore.AccessToken{}, l.fails
	}
	if !l.stuck || l.given == 0 {
		l.given++
	}
	l.claims = append(l.claims, o.Claims)
	return azcore.AccessToken{Token: fmt.Sprint("token-", l.given), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// withToken returns a client with a credential for a server that judges tokens.
func withToken(t *testing.T, cred azcore.TokenCredential, judge func(string) cosmostest.TokenState) (*cosmostest.Server, *Remote) {
	t.Helper()
	srv := cosmostest.New(&cosmostest.Options{AAD: judge})
	connect(t, srv) // makes the container
	client, err := openAccount(srv.Endpoint(), "", cred, &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: srv.Transport()}})
	require.NoError(t, err)
	container, err := client.NewContainer("db", "sync")
	require.NoError(t, err)
	srv.ResetCounters()
	return srv, New(container)
}

// TestRefusedToken lets the service refuse the token that the client has: it gets
// another one and goes on, and several requests at once get it once.
func TestRefusedToken(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]cosmostest.TokenState{
		"expired": cosmostest.TokenExpired, "revoked": cosmostest.TokenRevoked, "refused": cosmostest.TokenRefused,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cred, good := &login{}, "token-1"
				srv, client := withToken(t, cred, func(token string) cosmostest.TokenState {
					if token == good {
						return cosmostest.TokenAccepted
					}
					return state
				})
				ctx, told := counted(t.Context())
				put := func(id string) reply { return client.batch(ctx, "p", put(id)) }
				require.NoError(t, put("a").Err)
				require.NoError(t, put("b").Err)
				require.Equal(t, 1, cred.given)
				good = "token-2"
				var work sync.WaitGroup
				for i := range 8 {
					work.Go(func() { require.NoError(t, put(fmt.Sprint(i)).Err) })
				}
				work.Wait()
				require.Equal(t, 2, cred.given, "one new token for all")
				want := ""
				if state == cosmostest.TokenRevoked {
					want = cosmostest.TokenClaims
				}
				require.Equal(t, []string{"", want}, cred.claims)
				time.Sleep(57 * time.Minute)
				good = "token-3"
				require.NoError(t, put("c").Err)
				require.Equal(t, 3, cred.given, "a token is replaced before its end")
				require.EqualValues(t, srv.Counters().Total.Requests, told.Load())
			})
		})
	}
}

// TestNoOtherToken: a credential that has no other token ends in an answer that
// says so, and is asked again later.
func TestNoOtherToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cred, state := &login{stuck: true}, cosmostest.TokenExpired
		srv, client := withToken(t, cred, func(string) cosmostest.TokenState { return state })
		r := client.bounded()
		put := func() error {
			_, err := r.Commit(t.Context(), "p", objects("a"), nil)
			return err
		}
		require.ErrorIs(t, put(), remote.ErrUnauthorized)
		require.Equal(t, 1, srv.Counters().Total.Requests, "the same token is not tried twice")
		state = cosmostest.TokenAccepted
		require.ErrorIs(t, put(), remote.ErrUnauthorized, "nobody asks for a minute")
		time.Sleep(time.Minute)
		require.NoError(t, put())

		cred.fails = errors.New("no login")
		time.Sleep(56 * time.Minute)
		require.NoError(t, put(), "the old one is good until it ends")
		time.Sleep(5 * time.Minute)
		require.ErrorIs(t, put(), cred.fails)
	})
}

// TestRoleOnItsWay lets a role assignment arrive after a time: requests wait for
// it, one a minute for half an hour and then one in 15 minutes.
func TestRoleOnItsWay(t *testing.T) {
	t.Parallel()
	for after, asked := range map[time.Duration]int{5 * time.Minute: 6, 2 * time.Hour: 38} {
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				srv, client := withToken(t, &login{}, func(string) cosmostest.TokenState {
					if time.Since(start) < after {
						return cosmostest.TokenNoRole
					}
					return cosmostest.TokenAccepted
				})
				r := client.bounded()
				put := func() error {
					_, err := r.Commit(t.Context(), "p", objects("a"), nil)
					return err
				}
				err := put()
				require.ErrorIs(t, err, remote.ErrUnauthorized)
				for ; errors.Is(err, remote.ErrUnauthorized); err = put() {
					require.NotErrorIs(t, err, remote.ErrBlocked)
					time.Sleep(5 * time.Second)
				}
				require.NoError(t, err)
				require.Less(t, time.Since(start), after+16*time.Minute)
				require.InDelta(t, asked, srv.Counters().Total.Requests, 2)
			})
		})
	}
}

// slowLogin gives no token before the end of the context that asks for it.
type slowLogin struct{}

func (slowLogin) GetToken(ctx context.Context, _ policy.TokenRequestOptions) (azcore.AccessToken, error) {
	<-ctx.Done()
	return azcore.AccessToken{}, ctx.Err()
}

// TestTokenEndsWithTheContext: a request ends with its context, also while another
// one waits for the token.
func TestTokenEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, client := withToken(t, slowLogin{}, nil)
		put := func(limit time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			start := time.Now()
			require.ErrorIs(t, client.batch(ctx, "p", put("a")).Err, context.DeadlineExceeded)
			require.Equal(t, limit, time.Since(start))
		}
		var work sync.WaitGroup
		work.Go(func() { put(time.Minute) })
		synctest.Wait()
		work.Go(func() { put(time.Second) })
		work.Wait()
	})
}

// TestSplitInTheMiddleOfAQuery splits the partition between two pages: each row
// comes once.
func TestSplitInTheMiddleOfAQuery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := cosmostest.New(nil)
		c := connect(t, srv)
		const n = 2*pageSize + 1
		for i := range n {
			require.NoError(t, c.batch(t.Context(), "p", put(fmt.Sprintf("d%04d", i))).Err)
		}
		srv.ResetCounters()
		rows := 0
		for o, err := range c.bounded().List(t.Context(), "p", remote.Query{}) {
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("d%04d", rows), o.Name)
			if rows++; rows == pageSize/2 {
				require.NoError(t, srv.Split("db", "sync", 100*time.Millisecond))
			}
		}
		require.Equal(t, n, rows)
		require.NotZero(t, srv.Counters().ByStatus[410])
	})
}
