package genkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFrameworksOwnTests runs the tests that Genkit has for sessions on a copy
// of its package in which the methods of store.go are those of the store in
// memory.
func TestFrameworksOwnTests(t *testing.T) {
	t.Parallel()
	const pkg = "github.com/firebase/genkit/go/core/x/session"
	dir := strings.TrimSpace(run(t, ".", "list", "-f", "{{.Dir}}", pkg))
	session := read(t, filepath.Join(dir, "session.go"))
	before, rest, ok := strings.Cut(session, "// InMemoryStore is")
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, "// copyData ")
	require.True(t, ok)
	header := "\t\"errors\"\n\t\"fmt\"\n"
	require.Contains(t, before, header)
	before = strings.Replace(before, header, header+"\t\"io/fs\"\n\t\"os\"\n\n\t\"github.com/amplifier-go/sessionstorage/sessionstore\"\n\t\"github.com/amplifier-go/sessionstorage/sessionstore/agentstate\"\n", 1)
	_, methods, ok := strings.Cut(read(t, "store.go"), "// Get returns")
	require.True(t, ok)
	methods = strings.NewReplacer("*Store[S]", "*InMemoryStore[S]", "session.Data", "Data").Replace(methods)
	session = before + replacement + "// Get returns" + methods + "\n// copyData " + after

	work := t.TempDir()
	top, err := filepath.Abs("../../..")
	require.NoError(t, err)
	write(t, filepath.Join(work, "go.mod"), strings.NewReplacer("sessionstorage/examples/bridges/genkit", "sessionstorage/own", "../../..", strconv.Quote(top)).Replace(read(t, "go.mod")))
	write(t, filepath.Join(work, "go.sum"), read(t, "go.sum"))
	write(t, filepath.Join(work, "session.go"), session)
	write(t, filepath.Join(work, "session_test.go"), read(t, filepath.Join(dir, "session_test.go")))
	out := run(t, work, "test", "-mod=mod", "-count=1", "-v", ".")
	require.Greater(t, strings.Count(out, "--- PASS"), 20, out)
}

// replacement makes what the tests take for a store in memory.
const replacement = `
type InMemoryStore[S any] struct{ sessions *sessionstore.Store }

const value = "genkit"

func NewInMemoryStore[S any]() *InMemoryStore[S] {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		panic(err)
	}
	st, err := sessionstore.Open(dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	if err != nil {
		panic(err)
	}
	return &InMemoryStore[S]{st}
}

`

func read(t *testing.T, path string) string {
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(raw)
}

func write(t *testing.T, path, content string) {
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// run runs a command of Go, with a temporary directory that goes with the test.
func run(t *testing.T, dir string, args ...string) string {
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
