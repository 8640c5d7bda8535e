//go:build !386 && !arm

package eino

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestFrameworksOwnTests runs the tests that eino has for graphs, interrupts
// and checkpoints on a copy of it in which every checkpoint store of the tests
// has the methods of checkpoints.go. They need modules that nothing else here
// does, and half a minute.
func TestFrameworksOwnTests(t *testing.T) {
	t.Parallel()
	testenv.Soak(t, "it needs modules that nothing else here does")
	dir := strings.TrimSpace(run(t, ".", "list", "-m", "-f", "{{.Dir}}", "github.com/cloudwego/eino"))
	top, err := filepath.Abs("../../..")
	require.NoError(t, err)
	work := filepath.Join(t.TempDir(), "eino")
	require.NoError(t, os.CopyFS(work, os.DirFS(dir)))

	edit(t, filepath.Join(work, "compose", "checkpoint_test.go"), func(text string) string {
		before, rest, found := strings.Cut(text, "type inMemoryStore struct")
		require.True(t, found)
		_, after, found := strings.Cut(rest, "\ntype testStruct struct")
		require.True(t, found)
		return before + "type testStruct struct" + after
	})
	edit(t, filepath.Join(work, "compose", "tool_node_test.go"), func(text string) string {
		return strings.ReplaceAll(text, "&inMemoryStore{m: map[string][]byte{}}", "newInMemoryStore()")
	})
	ours, err := os.ReadFile("checkpoints.go")
	require.NoError(t, err)
	_, methods, found := strings.Cut(string(ours), "// Get returns")
	require.True(t, found)
	methods = strings.NewReplacer("*CheckPoints)", "*inMemoryStore)", "name(checkPointID", "bridgeName(checkPointID").Replace(methods)
	require.NoError(t, os.WriteFile(filepath.Join(work, "compose", "bridge_test.go"), []byte(replacement+"// Get returns"+methods), 0o600))
	edit(t, filepath.Join(work, "go.mod"), func(text string) string {
		return strings.Replace(text, "go 1.18", "go 1.26.0", 1) + "\nrequire github.com/amplifier-go/sessionstorage v0.0.0\n" +
			"require github.com/bytedance/sonic v1.15.5\nreplace github.com/amplifier-go/sessionstorage => " + strconv.Quote(top) + "\n"
	})
	out := run(t, work, "test", "-mod=mod", "-count=1", "-v", "./compose")
	require.Greater(t, strings.Count(out, "--- PASS"), 100, out)
}

// replacement makes what the tests take for a store in memory.
const replacement = `package compose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
)

type inMemoryStore struct {
	store *sessionstore.Store
	id    string
}

func newInMemoryStore() *inMemoryStore {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		panic(err)
	}
	st, err := sessionstore.Open(dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	if err != nil {
		panic(err)
	}
	return &inMemoryStore{st, "session"}
}

`

// edit changes a file, and must change something.
func edit(t *testing.T, path string, change func(string) string) {
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	text := change(string(raw))
	require.NotEqual(t, string(raw), text, path)
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// run runs a command of Go, with a temporary directory that goes with the test.
func run(t *testing.T, dir string, args ...string) string {
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
