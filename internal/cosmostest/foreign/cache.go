package foreign

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
