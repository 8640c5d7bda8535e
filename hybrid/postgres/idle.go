package postgres

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// idleTime is the time without a byte in either direction after which a statement ends,
// and the longest time to connect.
const idleTime = 30 * time.Second

// activity records when bytes last moved on any connection of a remote.
type activity struct {
	began time.Time
	limit time.Duration
	moved atomic.Int64 // a time.Duration since began
}

// conn is a connection whose bytes are activity.
type conn struct {
	net.Conn
	*activity
}

func (c conn) Read(b []byte) (int, error) { return c.note(c.Conn.Read(b)) }

func (c conn) Write(b []byte) (int, error) { return c.note(c.Conn.Write(b)) }

func (a *activity) note(n int, err error) (int, error) {
	if n > 0 {
		a.moved.Store(int64(time.Since(a.began)))
	}
	return n, err
}

// limited returns ctx for a statement, and a function that ends it: the context ends with
// [remote.NoAnswer] when nothing has moved for the limit.
func (a *activity) limited(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	start, done := time.Since(a.began), make(chan struct{})
	go func() {
		defer close(done)
		for {
			left := a.limit - (time.Since(a.began) - max(start, time.Duration(a.moved.Load())))
			if left <= 0 {
				cancel(remote.NoAnswer(a.limit))
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(left):
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}
