package hybridtest_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/hybridtest"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote/remotetest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, nil)
}

func TestRemote(t *testing.T) {
	t.Parallel()
	remotetest.Run(t, func(*testing.T) remote.Remote { return hybridtest.New() })
}

// outages are what a test does to a remote, and what each request says then.
var outages = map[string]struct {
	begin func(*hybridtest.Remote)
	err   error
}{
	"cut":     {(*hybridtest.Remote).Cut, remote.ErrUnreachable},
	"hung":    {(*hybridtest.Remote).Hang, context.DeadlineExceeded},
	"refused": {func(r *hybridtest.Remote) { r.Refuse(remote.ErrUnauthorized) }, remote.ErrUnauthorized},
}

// TestOutage makes each request during an outage, and after it.
func TestOutage(t *testing.T) {
	t.Parallel()
	for name, of := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := hybridtest.New()
				swap := &remote.Swap{Object: remote.Object{Name: "head", Label: []byte("{}"), Body: []byte("one")}}
				v, err := r.Commit(t.Context(), "part", []remote.Object{{Name: "drawn", Label: []byte("{}")}}, swap)
				require.NoError(t, err)
				seen := 0
				of.begin(r)
				requests := map[string]func(context.Context) error{
					"get":  func(ctx context.Context) error { _, err := r.Get(ctx, "part", "head", ""); return err },
					"list": func(ctx context.Context) (err error) { return listed(r.List(ctx, "part", remote.Query{})) },
					"commit": func(ctx context.Context) error {
						_, err := r.Commit(ctx, "part", []remote.Object{{Name: "more", Label: []byte("{}")}}, &remote.Swap{Object: swap.Object, If: v})
						return err
					},
					"delete": func(ctx context.Context) error { return r.Delete(ctx, "part", []string{"drawn"}) },
				}
				for what, do := range requests {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					ctx = remote.Observed(ctx, func(q remote.Request) { seen++; require.ErrorIs(t, q.Err, of.err) })
					require.ErrorIs(t, do(ctx), of.err, what)
					cancel()
				}
				require.Equal(t, len(requests), seen, "the observer is told of each request once")
				r.Mend()
				o, err := r.Get(t.Context(), "part", "head", "")
				require.NoError(t, err)
				require.Equal(t, v, o.Version, "nothing was done")
				_, err = r.Get(t.Context(), "part", "drawn", "")
				require.NoError(t, err)
			})
		})
	}
}

func listed(all func(func(remote.Object, error) bool)) (failed error) {
	all(func(_ remote.Object, err error) bool { failed = err; return true })
	return failed
}

// TestHungRequestGoesOn: what hangs is served by Mend, and fails by Cut.
func TestHungRequestGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := hybridtest.New()
		for _, end := range []func(){r.Mend, r.Cut, func() { r.Hang(); synctest.Wait(); r.Mend() }} {
			r.Hang()
			done := make(chan error)
			go func() {
				_, err := r.Get(t.Context(), "part", "head", "")
				done <- err
			}()
			synctest.Wait()
			select {
			case err := <-done:
				t.Fatal("it does not hang: ", err)
			default:
			}
			end()
			err := <-done
			require.True(t, errors.Is(err, remote.ErrNotExist) || errors.Is(err, remote.ErrUnreachable), err)
			r.Mend()
		}
	})
}

// TestProgram: a program whose remote goes away writes on, closes in time, and its next run
// sends what was not sent.
func TestProgram(t *testing.T) {
	t.Parallel()
	for name, of := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := hybridtest.New()
				place := t.TempDir()
				open := func(device string) *hybrid.Store {
					st, err := hybrid.Open(t.Context(), filepath.Join(place, device), &hybrid.Options{Remote: r, Project: "demo", Device: device})
					require.NoError(t, err)
					return st
				}
				hello, err := sessionstore.Text("user", "hello", time.Time{})
				require.NoError(t, err)
				laptop := open("laptop")
				require.NoError(t, laptop.Append(t.Context(), "s", hello))
				time.Sleep(time.Minute)
				of.begin(r)
				require.NoError(t, laptop.Append(t.Context(), "s", hello))
				_, err = laptop.Refresh(t.Context(), "s")
				require.Error(t, err)
				time.Sleep(time.Minute)
				start := time.Now()
				require.ErrorIs(t, laptop.Close(), hybrid.ErrDeferred)
				require.LessOrEqual(t, time.Since(start), 3*time.Second)

				r.Mend()
				laptop = open("laptop")
				time.Sleep(time.Hour) // a remote that does not authorize is asked again some time later
				require.NoError(t, laptop.Close())
				desktop := open("desktop")
				_, err = desktop.Pull(t.Context())
				require.NoError(t, err)
				s, err := desktop.Load(t.Context(), "s")
				require.NoError(t, err)
				require.Len(t, s.Messages, 2)
				require.NoError(t, desktop.Close())
			})
		})
	}
}
