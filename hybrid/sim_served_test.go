package hybrid

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"iter"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote/remotetest"
	"github.com/amplifier-go/sessionstorage/internal/test/served"
)

// servedRemote is a remote in another process. A call of it is a read from a socket, during
// which no time passes in a bubble.
type servedRemote struct {
	net.Conn
	stopped func() // is called at the request that stops
	loses   int    // the request of each Commit whose answer is lost; 0: none

	turn chan struct{} // holds a value while a call is made; no mutex, which time does not pass at in a bubble
	out  *gob.Encoder
	in   *gob.Decoder
}

// openServed opens the remote that first names, which a process serves at an address.
func openServed(address string, first served.Call, stopped func()) (*servedRemote, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	r := &servedRemote{Conn: c, stopped: stopped, turn: make(chan struct{}, 1), out: gob.NewEncoder(c), in: gob.NewDecoder(c)}
	_, err = r.call(context.Background(), &first)
	return r, err
}

func (r *servedRemote) call(ctx context.Context, c *served.Call) (a served.Answer, err error) {
	if err := ctx.Err(); err != nil {
		return a, err
	}
	asleep(ctx, func() { r.turn <- struct{}{} }) // where another call's machine sleeps, this one's does
	defer func() { <-r.turn }()
	c.Now = time.Now()
	err = errors.Join(r.out.Encode(c), r.in.Decode(&a))
	if err == nil && a.Stopped {
		asleep(ctx, r.stopped)
		a = served.Answer{}
		err = errors.Join(r.out.Encode(served.Call{Now: time.Now()}), r.in.Decode(&a))
	}
	if err != nil {
		return a, fmt.Errorf("the process that serves the remote: %w", err)
	}
	err = a.Err()
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
	a, err := r.call(ctx, &served.Call{Method: "Commit", Part: part, Objects: objects, Swap: swap, Lose: r.loses})
	return a.Version, err
}

func (r *servedRemote) Delete(ctx context.Context, part string, names []string) error {
	_, err := r.call(ctx, &served.Call{Method: "Delete", Part: part, Names: names})
	return err
}

// onEach runs a test on the remote of the flag -remote, or else on memory and a directory, at
// addresses of their own.
func onEach(t *testing.T, test func(t *testing.T, address string)) {
	t.Helper()
	if strings.Contains(*simRemote, ":") {
		test(t, *simRemote)
		return
	}
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, addressOf(t))
	})
	t.Run("dir", func(t *testing.T) {
		t.Parallel()
		top := t.TempDir()
		test(t, listen(t, func(d *served.Device) (remote.Remote, error) {
			d.Calls = true
			if err := dir.Provision(t.Context(), filepath.Join(top, d.Place)); err != nil {
				return nil, err
			}
			return dir.Open(t.Context(), filepath.Join(top, d.Place))
		}))
	})
}

// listen serves remotes for a test.
func listen(t *testing.T, open served.Open) (address string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	go served.Serve(l, open)
	return l.Addr().String()
}

// addressOf returns the address of the remote of a test: of the flag -remote, or of one in
// memory.
func addressOf(t *testing.T) string {
	t.Helper()
	if strings.Contains(*simRemote, ":") {
		return *simRemote
	}
	var mu sync.Mutex // guards what follows
	places, devices := map[string]*memremote.Remote{}, map[string][]*served.Device{}
	return listen(t, func(d *served.Device) (remote.Remote, error) {
		d.Calls = true
		mu.Lock()
		defer mu.Unlock()
		devices[d.Place] = append(devices[d.Place], d)
		if places[d.Place] == nil {
			places[d.Place] = &memremote.Remote{Now: func() (now time.Time) { // the time of the device that calls
				mu.Lock()
				defer mu.Unlock()
				for _, d := range devices[d.Place] {
					if now.Before(d.Now()) {
						now = d.Now()
					}
				}
				return now
			}}
		}
		return places[d.Place], nil
	})
}

// TestServed is what comes through a socket of a remote.
func TestServed(t *testing.T) {
	t.Parallel()
	address := addressOf(t)
	t.Run("calls", func(t *testing.T) {
		remotetest.Run(t, func(t *testing.T) remote.Remote {
			r, err := openServed(address, served.Call{Name: strings.ToLower(filepath.Base(t.Name()))}, nil)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, r.Close()) })
			return r
		})
	})
}
