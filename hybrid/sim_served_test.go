package hybrid

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"iter"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote/remotetest"
	"github.com/amplifier-go/sessionstorage/internal/test/served"
)

// servedRemote is a remote in another process. A call of it is a read from a socket, during
// which no time passes in a bubble.
type servedRemote struct {
	net.Conn
	mu  sync.Mutex // guards a call
	out *gob.Encoder
	in  *gob.Decoder
}

// openServed opens the remote at a place, which a process serves at an address.
func openServed(t *testing.T, address, place string) *servedRemote {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	r := &servedRemote{Conn: c, out: gob.NewEncoder(c), in: gob.NewDecoder(c)}
	_, err = r.call(context.Background(), &served.Call{Name: place})
	require.NoError(t, err)
	return r
}

func (r *servedRemote) call(ctx context.Context, c *served.Call) (a served.Answer, err error) {
	if err := ctx.Err(); err != nil {
		return a, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Now = time.Now()
	if err := errors.Join(r.out.Encode(c), r.in.Decode(&a)); err != nil {
		return a, fmt.Errorf("the process that serves the remote: %w", err)
	}
	if a.Failed != "" {
		err = errors.New(a.Failed)
		if a.Kind >= 0 {
			err = fmt.Errorf("%w: %w", served.Errors[a.Kind], err)
		}
	}
	remote.Observe(ctx, remote.Request{Start: c.Now, Err: err})
	return a, err
}

func (r *servedRemote) Info(ctx context.Context) (remote.Info, error) {
	a, err := r.call(context.WithoutCancel(ctx), &served.Call{Method: "Info"})
	return a.Info, err
}

func (r *servedRemote) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	a, err := r.call(ctx, &served.Call{Method: "Get", Part: part, Name: name, Known: known})
	if err != nil {
		return remote.Object{}, err
	}
	return a.Objects[0], nil
}

func (r *servedRemote) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		a, err := r.call(ctx, &served.Call{Method: "List", Part: part, Query: q})
		yieldAll(a.Objects, err, yield)
	}
}

func (r *servedRemote) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	a, err := r.call(ctx, &served.Call{Method: "Commit", Part: part, Objects: objects, Swap: swap})
	return a.Version, err
}

func (r *servedRemote) Delete(ctx context.Context, part string, names []string) error {
	_, err := r.call(ctx, &served.Call{Method: "Delete", Part: part, Names: names})
	return err
}

// TestServed is what comes through a socket of a remote in memory.
func TestServed(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	go served.Serve(l, func(string, func() time.Time) (remote.Remote, func(), error) {
		return &memremote.Remote{}, func() {}, nil
	})
	t.Run("calls", func(t *testing.T) {
		remotetest.Run(t, func(t *testing.T) remote.Remote {
			r := openServed(t, l.Addr().String(), t.Name())
			t.Cleanup(func() { require.NoError(t, r.Close()) })
			return r
		})
	})
}
