package web

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStrangers has another user of the machine open connections and send halves of headers:
// the server keeps few of these, and both the user's connection and a new one are served.
func TestStrangers(t *testing.T) {
	t.Parallel()
	const token = "the-token"
	s := newSiteWith(t, Options{Token: token})
	dial := func() net.Conn {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() }) // the server may have closed it
		return c
	}
	head := "GET / HTTP/1.1\r\nHost: " + strings.TrimPrefix(s.url, "http://") + "\r\n"
	ask := func(c net.Conn, in *bufio.Reader) int {
		_, err := fmt.Fprintf(c, "%s%s: %s\r\n\r\n", head, TokenHeader, token)
		require.NoError(t, err)
		answer, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	user := dial()
	in := bufio.NewReader(user)
	status := ask(user, in)
	require.Less(t, status, 400)

	for range 3 * maxStrangers {
		_, _ = io.WriteString(dial(), head+"X: "+strings.Repeat("a", 8<<10)) // the server may have closed it
	}
	require.Equal(t, status, ask(user, in), "the user's connection goes on")
	other := dial()
	require.Equal(t, status, ask(other, bufio.NewReader(other)), "the user gets a new one")
	c := dial()
	_, _ = io.WriteString(c, head+"X: "+strings.Repeat("a", 64<<10)+"\r\n\r\n") // the server may answer before that
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err == nil { // else it was closed with bytes unread
		require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, answer.StatusCode)
		require.NoError(t, answer.Body.Close())
	}
}

// TestStrangersAreBounded closes the oldest connections without the token, and no others.
func TestStrangersAreBounded(t *testing.T) {
	t.Parallel()
	var cs connections
	var all []net.Conn
	opened := func() net.Conn {
		c, other := net.Pipe()
		t.Cleanup(func() { require.NoError(t, errors.Join(c.Close(), other.Close())) })
		cs.changed(c, http.StateNew)
		cs.changed(c, http.StateActive)
		return other
	}
	isOpen := func(c net.Conn) bool {
		if err := c.SetReadDeadline(time.Now()); errors.Is(err, io.ErrClosedPipe) {
			return false
		}
		_, err := c.Read(make([]byte, 1))
		return errors.Is(err, os.ErrDeadlineExceeded)
	}
	for range maxStrangers {
		all = append(all, opened())
	}
	known := cs.strangers[0]
	r, err := http.NewRequestWithContext(withConnection(t.Context(), known), http.MethodGet, "/", nil)
	require.NoError(t, err)
	cs.letIn(r)
	cs.changed(cs.strangers[0], http.StateClosed)
	for i := range maxStrangers {
		all = append(all, opened())
		require.LessOrEqual(t, len(cs.strangers), maxStrangers, i)
	}
	require.Len(t, cs.strangers, maxStrangers)
	require.Empty(t, cs.unused)
	for i, c := range all {
		require.Equal(t, i < 2 || i >= maxStrangers, isOpen(c), i) // the first was let in, and the second one is only said to be closed
	}
}
