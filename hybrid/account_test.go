package hybrid

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"
)

// silent is a network that takes requests and never answers.
type silent struct{ asked atomic.Int64 }

func (s *silent) Do(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestSilentNetwork requires of each call that it ends with its context when
// nothing answers, also while another call waits for the account.
func TestSilentNetwork(t *testing.T) {
	t.Parallel()
	for name, regions := range map[string][]string{"any region": nil, "a region": {"West Europe"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				network := &silent{}
				o := &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: network}, PreferredRegions: regions}
				config := cosmos.Config{Endpoint: "http://silent.test", Key: "aGVsbG8="}
				within := func(limit time.Duration, call func(context.Context) error) error {
					t.Helper()
					ctx, cancel := context.WithTimeout(t.Context(), limit)
					defer cancel()
					start := time.Now()
					err := call(ctx)
					require.LessOrEqual(t, time.Since(start), limit+100*time.Millisecond)
					return err
				}
				require.NoError(t, within(2*time.Second, func(ctx context.Context) error {
					_, err := cosmos.Connect(t.Context(), config, nil, o)
					return err
				}))
				container, err := cosmos.Connect(t.Context(), config, nil, o)
				require.NoError(t, err)
				s, err := Open(t.Context(), t.TempDir(), &Options{Remote: container, Project: "demo", User: "ada", Background: Background{Interval: time.Second}})
				require.NoError(t, err)
				a := &testDevice{s, t}
				a.say("s", "hello")
				time.Sleep(time.Minute) // the background tries
				require.ErrorIs(t, within(2*time.Second, func(ctx context.Context) error {
					_, err := a.Sync(ctx)
					return err
				}), context.DeadlineExceeded)
				require.ErrorIs(t, within(time.Second, func(ctx context.Context) error {
					_, err := a.Pull(ctx)
					return err
				}), context.DeadlineExceeded)
				require.NotZero(t, network.asked.Load())
				require.Error(t, within(2*time.Second, a.Shutdown))

				s, err = Open(t.Context(), t.TempDir(), &Options{Remote: container, Project: "demo", User: "ada"})
				require.NoError(t, err)
				(&testDevice{s, t}).say("s", "hello")
				require.ErrorIs(t, within(2*time.Second, func(context.Context) error { return s.Close() }), ErrDeferred)
			})
		})
	}
}
