package hybrid

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// badNetworks are what a network does to a request that it does not pass on as it
// should. pass sends the request to the server.
var badNetworks = map[string]func(r *http.Request, pass func() (*http.Response, error)) (*http.Response, error){
	"refuses": func(*http.Request, func() (*http.Response, error)) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	},
	"hangs": func(r *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	},
	"hangs amid the answer": func(r *http.Request, pass func() (*http.Response, error)) (*http.Response, error) {
		return slowly(r, pass, func(n int) time.Duration { return time.Duration(n) * time.Hour })
	},
	"byte by byte": func(r *http.Request, pass func() (*http.Response, error)) (*http.Response, error) {
		return slowly(r, pass, func(int) time.Duration { return time.Second })
	},
	"portal": func(r *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return page(r), nil
	},
	"portal, byte by byte": func(r *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return slowly(r, func() (*http.Response, error) { return page(r), nil }, func(int) time.Duration { return time.Second })
	},
}

// page is what a captive portal answers.
func page(r *http.Request) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/html"}}, Body: io.NopCloser(strings.NewReader(portalPage)), Request: r,
	}
}

// slowly delays each byte of the answer, as pause says for the nth one.
func slowly(r *http.Request, pass func() (*http.Response, error), pause func(n int) time.Duration) (*http.Response, error) {
	answer, err := pass()
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	answer.Body = &slowBody{ctx: r.Context(), rest: bytes.NewReader(content), pause: pause}
	return answer, nil
}

type slowBody struct {
	ctx   context.Context
	rest  *bytes.Reader
	pause func(n int) time.Duration
	n     int
}

func (b *slowBody) Read(p []byte) (int, error) {
	select {
	case <-time.After(b.pause(b.n)):
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
	b.n++
	return b.rest.Read(p[:min(1, len(p))])
}

func (*slowBody) Close() error { return nil }

// failingNetwork passes some requests on before it goes bad.
type failingNetwork struct {
	server policy.Transporter
	bad    func(*http.Request, func() (*http.Response, error)) (*http.Response, error)
	good   atomic.Int64 // requests that it passes on
	asked  atomic.Int64 // those that it did not
}

func (n *failingNetwork) Do(r *http.Request) (*http.Response, error) {
	pass := func() (*http.Response, error) { return n.server.Do(r) }
	if n.good.Add(-1) >= 0 {
		return pass()
	}
	n.asked.Add(1)
	return n.bad(r, pass)
}

// boundedCalls are the calls that wait for a network and must not outlast their
// context. Close takes none; Background.CloseWait bounds it.
var boundedCalls = map[string]func(ctx context.Context, s *Store) error{
	"Sync":      func(ctx context.Context, s *Store) error { _, err := s.Sync(ctx); return err },
	"Sync one":  func(ctx context.Context, s *Store) error { _, err := s.Sync(ctx, "s"); return err },
	"Pull":      func(ctx context.Context, s *Store) error { _, err := s.Pull(ctx); return err },
	"Pull one":  func(ctx context.Context, s *Store) error { _, err := s.Pull(ctx, "there"); return err },
	"Refresh":   func(ctx context.Context, s *Store) error { _, err := s.Refresh(ctx, "s"); return err },
	"Status":    func(ctx context.Context, s *Store) error { _, err := s.Status(ctx); return err },
	"Remote":    func(ctx context.Context, s *Store) error { _, err := s.Remote(ctx); return err },
	"Preview":   func(ctx context.Context, s *Store) error { _, err := s.Preview(ctx, "there"); return err },
	"Histories": func(ctx context.Context, s *Store) error { _, err := s.Histories(ctx, "s"); return err },
	"Check":     func(ctx context.Context, s *Store) error { _, err := s.Check(ctx, "s", nil); return err },
	"Check and mend": func(ctx context.Context, s *Store) error {
		_, err := s.Check(ctx, "s", &CheckOptions{Mend: true})
		return err
	},
	"Prune":         func(ctx context.Context, s *Store) error { _, err := s.Prune(ctx, nil); return err },
	"Remove":        func(ctx context.Context, s *Store) error { return s.Remove(ctx, "there") },
	"Shutdown":      func(ctx context.Context, s *Store) error { return s.Shutdown(ctx) },
	"Close":         func(_ context.Context, s *Store) error { return s.Close() },
	"Sync and Sync": func(ctx context.Context, s *Store) error { return twice(ctx, s) },
}

// twice syncs a session in two goroutines: one waits for the other.
func twice(ctx context.Context, s *Store) error {
	first := make(chan error)
	go func() {
		_, err := s.Sync(ctx, "s")
		first <- err
	}()
	_, err := s.Sync(ctx, "s")
	return errors.Join(<-first, err)
}

var boundedAll = flag.Bool("bounded.all", false, "TestWaitingIsBounded tries all requests in all networks, not one in 30 with TEST_LONG set and one in 60 without")

// TestWaitingIsBounded has a network go bad before each of the first requests of
// each call. The call ends 100 ms after its context at the latest, and Close after
// CloseWait; nothing is lost, and no goroutine stays, which the bubble requires.
func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	for _, name := range testenv.Some(t, 4, slices.Sorted(maps.Keys(boundedCalls))...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := testenv.Rand(t)
			for _, network := range slices.Sorted(maps.Keys(badNetworks)) {
				for good := range int64(10) { // requests before it
					for _, working := range []bool{false, true} { // in the background
						if !*boundedAll && r.IntN(testenv.Share(60, 60, 30)) > 0 {
							continue
						}
						synctest.Test(t, func(t *testing.T) {
							bounded(t, boundedCalls[name], &failingNetwork{bad: badNetworks[network]}, good, working)
						})
						if t.Failed() {
							t.Fatalf("the network %s after %d requests, background %t", network, good, working)
						}
					}
				}
			}
		})
	}
}

func bounded(t *testing.T, call func(context.Context, *Store) error, network *failingNetwork, good int64, working bool) {
	c := newCloud(t, nil)
	network.server = c.Transport()
	network.good.Store(1 << 40)
	other := c.device(t, "b")
	other.say("there", "one", "two")
	other.say("s", "first", "second")
	other.sync()
	other.pull()

	config := cosmos.Config{Endpoint: c.Endpoint(), Key: c.Key(), Database: testDatabase, Container: testContainer}
	o := &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: network}}
	within := func(limit time.Duration, call func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		start := time.Now()
		err := call(ctx)
		require.LessOrEqual(t, time.Since(start), limit+100*time.Millisecond)
		return err
	}
	a := c.device(t, "a", func(o *Options) { o.Manual = !working; o.Background.CloseWait = 2 * time.Second })
	a.pull("s")
	require.NoError(t, a.Close())

	// Connect and Open find the network as it is.
	network.good.Store(good)
	require.NoError(t, within(2*time.Second, func(ctx context.Context) error {
		_, err := cosmos.Connect(t.Context(), config, nil, o)
		return err
	}))
	container, err := cosmos.Connect(t.Context(), config, nil, o)
	require.NoError(t, err)
	var s *Store
	require.NoError(t, within(0, func(context.Context) error {
		s, err = Open(t.Context(), a.Dir(), &Options{Remote: container, Project: "demo", User: "ada", Device: "a", Manual: !working, Background: Background{Interval: time.Second}})
		return err
	}))
	away := &testDevice{s, t}
	away.say("s", "third")
	away.say("new", "one")
	if working {
		time.Sleep(3 * time.Second)
	}
	network.good.Store(good)
	err = within(2*time.Second, func(ctx context.Context) error { return call(ctx, s) })
	known := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnreachable) || errors.Is(err, ErrDeferred)
	require.True(t, err == nil || known, "what the network does is no fault of the account: %v", err)
	_ = within(2*time.Second, func(context.Context) error { return s.Close() }) // it may have been closed, or something waits

	// With a good network again nothing is missing.
	network.good.Store(1 << 40)
	again := c.deviceAt(t, a.Dir(), "a")
	again.sync()
	other.pull()
	require.Equal(t, []string{"first", "second", "third"}, other.texts("s"))
	require.Equal(t, []string{"one"}, other.texts("new"))
}
