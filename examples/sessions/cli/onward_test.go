package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestHandOverNames hands a named session to Codex: its list has the name, once, and keeps a name
// that a person gave there.
func TestHandOverNames(t *testing.T) {
	root, workspace, codex := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("CODEX_HOME", codex)
	for _, variable := range []string{"CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR"} {
		t.Setenv(variable, t.TempDir())
	}
	st, err := sessionstore.Open(filepath.Join(root, "p", "sessions"), &sessionstore.Options{Workspace: workspace})
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	const id = "18f814b7-8af9-43da-b84e-49efb14e6492"
	md, err := sessionstore.NewMetadata(map[string]string{"session_id": id, "working_dir": workspace, "name": "Mine"})
	require.NoError(t, err)
	question, err := sessionstore.Text("user", "?", time.Now())
	require.NoError(t, err)
	require.NoError(t, st.Save(t.Context(), id, []sessionstore.Message{question}, md))
	index := filepath.Join(codex, "session_index.jsonl")
	names := func() string {
		text, err := os.ReadFile(index)
		if err != nil {
			require.ErrorIs(t, err, os.ErrNotExist)
		}
		return string(text)
	}
	handOver := func(more ...string) {
		var out bytes.Buffer
		code, stderr := run(t, &out, append([]string{"resume", id, "--with=codex", "--json", "--sessions-root=" + root, "--project=p"}, more...)...)
		require.Equal(t, exitOK, code, stderr)
		require.Empty(t, stderr)
	}
	handOver("--show")
	require.Empty(t, names())
	handOver()
	require.Contains(t, names(), `"thread_name":"Mine"`)
	handOver()
	require.Equal(t, 1, strings.Count(names(), id))
	require.NoError(t, os.WriteFile(index, []byte(names()+`{"id":"`+id+`","thread_name":"Theirs","updated_at":"2026-03-05T10:00:00Z"}`+"\n"), 0o600))
	_, _, err = st.SetName(t.Context(), id, sessionstore.Naming{Name: "Newer", Source: "manual"})
	require.NoError(t, err)
	handOver()
	require.Equal(t, 2, strings.Count(names(), id))
}
