package postgres

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// conn is a connection that tells the call that it serves of bytes that move.
type conn struct {
	net.Conn
	call atomic.Pointer[context.Context] // nil: it serves none
}

// moving returns a connection that serves the call of ctx.
func moving(ctx context.Context, c net.Conn) *conn {
	m := &conn{Conn: c}
	m.call.Store(&ctx)
	return m
}

// serves lets a connection of the pool serve the call of ctx, until end is called.
func serves(ctx context.Context, c net.Conn) (end func()) {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	m, ok := c.(*conn)
	if !ok {
		return func() {}
	}
	m.call.Store(&ctx)
	return func() { m.call.Store(nil) }
}

func (c *conn) moved(n int) {
	if ctx := c.call.Load(); n > 0 && ctx != nil {
		remote.Moved(*ctx)
	}
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.moved(n)
	return n, err
}

// block is the number of bytes that are written at once: a slow connection tells of each.
const block = 16 << 10

func (c *conn) Write(b []byte) (written int, err error) {
	for err == nil && written < len(b) {
		n := 0
		n, err = c.Conn.Write(b[written:min(len(b), written+block)])
		c.moved(n)
		written += n
	}
	return written, err
}
