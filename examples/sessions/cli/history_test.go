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

// TestImportTellsOnce imports a history with a damaged line, a line of an unknown kind and a
// prompt that comes into no session: the report has each of them once, also with -v.
func TestImportTellsOnce(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", home)
	dir := filepath.Join(home, "projects", "-w")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(`{"type":"user","uuid":"1","cwd":"/w","message":{"content":"go"}}
{"type":"user","uuid":"2","parentUuid":"1","message":{"content":"without an answer"}}
{"type":"assistant","uuid":"3","parentUuid":"1","message":{"id":"m","content":[{"type":"text","text":"gone"},{"type":"odd"}]}}
{"type":"next-year"}
{"torn
`), 0o600))
	for _, verbose := range []bool{false, true} {
		args := []string{"import", "--from=claude", "--sessions-root", t.TempDir()}
		if verbose {
			args = append(args, "-v")
		}
		var out bytes.Buffer
		require.Zero(t, Run(t.Context(), Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Env: func(string) string { return "" }}), out.String())
		for what, times := range map[string]int{"line 5": 1, "line 2": 1, "damaged": 0, "prompt,": 0, "note:": 2, "original.jsonl.zst": 1} {
			require.Equal(t, times, strings.Count(out.String(), what), "%s in %s", what, out.String())
		}
		kinds := strings.Count(out.String(), "next-year") + strings.Count(out.String(), "unknown kind")
		require.Equal(t, 1, kinds, out.String())
	}
}
