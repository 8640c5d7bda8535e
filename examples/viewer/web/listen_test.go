package web

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListen(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := Listen(t.Context(), addr)
		require.NoError(t, err, addr)
		require.NoError(t, l.Close())
	}
	for _, addr := range []string{"", ":0", ":8080", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:80", "127.0.0.1", "127.0.0.1:x"} {
		_, err := Listen(t.Context(), addr)
		require.Error(t, err, addr)
	}
}

// TestStopWithUnusedConnections has connections on which nothing was asked,
// of which the server does not wait for a request.
func TestStopWithUnusedConnections(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var all []net.Conn
	for range 3 {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		require.NoError(t, err)
		all = append(all, c)
	}
	s.get(303, "/") // they were accepted before
	s.stop()
	for _, c := range all {
		_, err := c.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.NoError(t, c.Close())
	}
}
