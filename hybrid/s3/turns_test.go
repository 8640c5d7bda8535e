package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// unsteady is a transport on which some requests fail: refused by the service, lost on the
// way, or done without an answer.
type unsteady struct {
	mu   sync.Mutex // guards rand
	rand *rand.Rand
}

func (u *unsteady) Do(req *http.Request) (*http.Response, error) {
	u.mu.Lock()
	fault := u.rand.IntN(100)
	u.mu.Unlock()
	switch {
	case fault == 0:
		return answer(req, 503, "SlowDown"), nil
	case fault == 1:
		return answer(req, 500, "InternalError"), nil
	case fault == 2:
		return nil, io.ErrUnexpectedEOF
	case fault == 3 && req.Header.Get("If-Match") != "":
		return answer(req, 409, "ConditionalRequestConflict"), nil
	}
	a, err := http.DefaultClient.Do(req)
	if fault <= 5 && err == nil {
		return nil, errors.Join(io.ErrUnexpectedEOF, a.Body.Close())
	}
	return a, err
}

// TestTurns lets three devices take turns in a session by way of a bucket, while requests
// fail. Each turn is in the session on each device afterwards, once and in order, and there
// is one session.
func TestTurns(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	r, root := rand.New(rand.NewPCG(seed, 1)), t.TempDir()
	s := &server{address: serve(t, versitygw)}
	var devices []*hybrid.Store
	for i, name := range []string{"laptop", "desktop", "server"} {
		to, err := Open(t.Context(), s.place(prefix(t)), s.config(&unsteady{rand: rand.New(rand.NewPCG(seed, uint64(2+i)))}))
		require.NoError(t, err)
		st, err := hybrid.Open(t.Context(), filepath.Join(root, name), &hybrid.Options{Remote: to, Project: "turns", User: "ada", Device: name, Manual: true})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, st.Close()) })
		devices = append(devices, st)
	}
	var want []string
	for n := range testenv.Share(15, 15, 60) {
		d := devices[r.IntN(len(devices))]
		if n > 0 {
			insist(t, func(ctx context.Context) error { _, err := d.Refresh(ctx, "s"); return err })
			require.Equal(t, want, texts(t, d), "before turn %d", n)
		}
		text := fmt.Sprint("turn ", n)
		m, err := sessionstore.Text("user", text, time.Now())
		require.NoError(t, err)
		require.NoError(t, d.Append(t.Context(), "s", m))
		want = append(want, text)
		insist(t, func(ctx context.Context) error { _, err := d.Sync(ctx, "s"); return err })
	}
	for _, d := range devices {
		insist(t, func(ctx context.Context) error { _, err := d.Pull(ctx); return err })
		require.Equal(t, want, texts(t, d))
		all, err := d.List(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, all, 1, "a conflict made a second session")
	}
}

// insist makes a call until the bucket lets it through.
func insist(t *testing.T, call func(ctx context.Context) error) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		err := call(t.Context())
		if err == nil {
			return
		}
		unavailable := errors.Is(err, remote.ErrUnreachable) || errors.Is(err, remote.ErrUnknown)
		require.True(t, unavailable && time.Now().Before(end), err)
	}
}

func texts(t *testing.T, st *hybrid.Store) (all []string) {
	t.Helper()
	session, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	for _, m := range session.Messages {
		all = append(all, m.Content())
	}
	return all
}
