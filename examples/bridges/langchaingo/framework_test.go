package langchaingo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFrameworksOwnTests runs the tests that langchaingo has for its buffers on
// a copy of that package in which every history is a session. Those of the
// token buffer are not run, as they need an account at a provider.
func TestFrameworksOwnTests(t *testing.T) {
	t.Parallel()
	dir := strings.TrimSpace(run(t, ".", "list", "-f", "{{.Dir}}", "github.com/tmc/langchaingo/memory"))
	top, err := filepath.Abs("../../..")
	require.NoError(t, err)
	work := t.TempDir()
	for _, name := range []string{"buffer.go", "buffer_options.go", "window_buffer.go", "buffer_test.go", "window_buffer_test.go"} {
		write(t, filepath.Join(work, name), read(t, filepath.Join(dir, name)))
	}
	write(t, filepath.Join(work, "chat.go"), replacement)
	mod := strings.NewReplacer("module github.com/amplifier-go/sessionstorage/examples/bridges/langchaingo", "module github.com/amplifier-go/sessionstorage/own", "../../..", strconv.Quote(top)).Replace(read(t, "go.mod"))
	mod += "\nrequire github.com/amplifier-go/sessionstorage/examples/bridges/langchaingo v0.0.0\n" +
		"replace github.com/amplifier-go/sessionstorage/examples/bridges/langchaingo => " + strconv.Quote(filepath.Join(top, "examples", "bridges", "langchaingo")) + "\n"
	write(t, filepath.Join(work, "go.mod"), mod)
	write(t, filepath.Join(work, "go.sum"), read(t, "go.sum"))
	out := run(t, work, "test", "-mod=mod", "-count=1", "-v", ".")
	require.Greater(t, strings.Count(out, "--- PASS"), 6, out)
}

// replacement makes what the tests take for a history in memory.
const replacement = `package memory

import (
	"context"
	"os"

	"github.com/amplifier-go/sessionstorage/examples/bridges/langchaingo"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/tmc/langchaingo/llms"
)

type ChatMessageHistory struct{ *langchaingo.History }

type ChatMessageHistoryOption func(*ChatMessageHistory)

func WithPreviousMessages(messages []llms.ChatMessage) ChatMessageHistoryOption {
	return func(h *ChatMessageHistory) {
		if err := h.SetMessages(context.Background(), messages); err != nil {
			panic(err)
		}
	}
}

func NewChatMessageHistory(options ...ChatMessageHistoryOption) *ChatMessageHistory {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		panic(err)
	}
	st, err := sessionstore.Open(dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	if err != nil {
		panic(err)
	}
	h := &ChatMessageHistory{langchaingo.New(st, sessionstore.NewID())}
	for _, option := range options {
		option(h)
	}
	return h
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
