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

// TestImportOfUnknown imports a history that has nothing but what is not known: the report names it.
func TestImportOfUnknown(t *testing.T) {
	home := t.TempDir()
	t.Setenv("PI_CODING_AGENT_DIR", home)
	dir := filepath.Join(home, "sessions", "--w--")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	rows := `{"type":"session","version":9,"id":"a","cwd":"/w"}` + "\n" + `{"type":"utterance","id":"1","parentId":null}` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "1_a.jsonl"), []byte(rows), 0o600))
	var out, told bytes.Buffer
	code := Run(t.Context(), Process{
		Args: []string{"import", "--from=pi", "--sessions-root", t.TempDir()}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &told,
		Env: func(string) string { return "" },
	})
	require.Zero(t, code, told.String())
	require.Contains(t, out.String(), "1 history without a conversation")
	require.Contains(t, out.String(), "as of a newer version: kind utterance 1, version 9 1")
}
