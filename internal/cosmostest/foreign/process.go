package foreign

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/filelock"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

// installLimit is how long a process waits for another one that installs.
const installLimit = 20 * time.Minute

// installed returns the folder name of the cache, in which install has run to
// its end, in this process or another one.
func installed(t testing.TB, name string, install func(dir string)) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	testenv.Need(t, err == nil, "there is no cache directory for servers")
	dir := filepath.Join(cache, "cosmos-emulators", name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	lock, err := filelock.Acquire(t.Context(), root, ".lock", filelock.Options{Limit: installLimit})
	require.NoError(t, err)
	defer func() { require.NoError(t, lock.Unlock()) }()
	done := filepath.Join(dir, ".complete")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	install(dir)
	require.NoError(t, os.WriteFile(done, nil, 0o644))
	return dir
}

// run runs a program to its end, in dir and with variables beside those of
// the process. Without success the test is skipped, or fails in CI: what is
// missing may be the network.
func run(t testing.TB, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.Output()
	reason := ""
	if err != nil {
		reason = fmt.Sprintf("%s %v: %v", name, args, err)
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			reason += ": " + string(exit.Stderr)
		}
	}
	testenv.Need(t, err == nil, reason)
	return string(out)
}

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
