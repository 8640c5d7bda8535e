package foreign

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startLimit is how long a server may take until it answers.
const startLimit = 3 * time.Minute

// start starts a program that ends with the test. It returns the rest of the
// first line that begins with ready; with "" it waits for none.
func start(t testing.TB, ready, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, name, args...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var problems strings.Builder
	cmd.Stderr = &problems
	require.NoError(t, cmd.Start())
	lines := make(chan string, 1)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		lines <- find(out, ready)
		_, _ = io.Copy(io.Discard, out)
	}()
	t.Cleanup(func() {
		cancel()
		<-drained
		_ = cmd.Wait()
	})
	if ready == "" {
		return ""
	}
	select {
	case line := <-lines:
		require.NotEmpty(t, line, "%s ended before it was ready", name)
		return line
	case <-time.After(startLimit):
		require.Fail(t, "the server is not ready", "%s %v", name, args)
	}
	return ""
}

// find reads up to the line that begins with prefix and returns its rest.
func find(r io.Reader, prefix string) string {
	if prefix == "" {
		return ""
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// freePort returns a port that nothing listens on, for a program that cannot
// choose one itself. It is below those that systems give to whoever asks for
// any, so that no other test gets it until the program listens.
func freePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(15_000 + rand.IntN(15_000))
		l, err := net.Listen("tcp", ":"+port)
		if err != nil {
			continue // somebody has it
		}
		require.NoError(t, l.Close())
		return port
	}
	require.Fail(t, "no port is free")
	return ""
}

// await asks the server until it answers, whatever that is.
func await(t testing.TB, client *http.Client, url string) {
	t.Helper()
	require.Eventually(t, func() bool {
		r, err := client.Get(url)
		if err == nil {
			_ = r.Body.Close()
		}
		return err == nil
	}, startLimit, 5*time.Millisecond)
}
