package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestHandOverNames hands a named session with a picture in a result to Codex: nothing is lost, its
// list has the name, once, and keeps a name that a person gave there.
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
	rows := []sessionstore.Message{}
	for _, raw := range []string{
		`{"role":"user","content":"?"}`, `{"role":"assistant","content":"","tool_calls":[{"id":"c1","tool":"look","arguments":{}}]}`,
		`{"role":"tool","name":"look","tool_call_id":"c1","content":[{"type":"text","text":"above"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aW1n"}}]}`,
	} {
		m, err := sessionstore.ParseMessage([]byte(raw))
		require.NoError(t, err)
		rows = append(rows, m)
	}
	require.NoError(t, st.Save(t.Context(), id, rows, md))
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
		require.Contains(t, out.String(), `"left_out": {}`)
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
