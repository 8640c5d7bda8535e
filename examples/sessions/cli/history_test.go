package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImportInterrupted ends an import before its first history: it does not say that it
// went well.
func TestImportInterrupted(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", home)
	dir := filepath.Join(home, "projects", "-w")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for _, id := range []string{"a", "b"} {
		row := `{"type":"user","uuid":"1","cwd":"/w","message":{"content":"go"}}` + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(row), 0o600))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out, told bytes.Buffer
	code := Run(ctx, Process{
		Args: []string{"import", "--from=claude", "--sessions-root", t.TempDir()}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &told,
		Env: func(string) string { return "" },
	})
	require.Equal(t, exitInterrupted, code, told.String())
	require.Contains(t, told.String(), "interrupted")
	require.NotContains(t, out.String(), "✓")
	require.NotContains(t, out.String(), "Imported")
	require.True(t, strings.HasPrefix(out.String(), "✗ Stopped after 0 of "), out.String())
}
