package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

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
	const id = handedID
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

// TestHandOverKeepsNames hands a session to a tool in which a person named it, without a further turn, before it went on here: that
// name stays the last one there. A name that it gets here comes there, also a former one.
func TestHandOverKeepsNames(t *testing.T) {
	for tool, c := range map[string]struct{ named, files string }{
		"claude": {`{"type":"custom-title","customTitle":"%s","sessionId":"` + handedID + `"}`, "projects/*/*.jsonl"},
		"pi":     {`{"type":"session_info","id":"198ffdfb","parentId":null,"timestamp":"2026-11-29T11:49:02.248Z","name":"%s"}`, "sessions/*/*.jsonl"},
	} {
		root, workspace, home := t.TempDir(), t.TempDir(), t.TempDir()
		for _, variable := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "PI_CODING_AGENT_DIR", "XDG_DATA_HOME"} {
			t.Setenv(variable, t.TempDir())
		}
		t.Setenv(map[string]string{"claude": "CLAUDE_CONFIG_DIR", "pi": "PI_CODING_AGENT_DIR"}[tool], home)
		st, err := sessionstore.Open(filepath.Join(root, "p", "sessions"), &sessionstore.Options{Workspace: workspace})
		require.NoError(t, err)
		say := func() {
			for _, role := range []string{"user", "assistant"} {
				m, err := sessionstore.Text(role, "Said.", time.Date(2026, 3, 5, 10, 0, 0, 0, time.UTC))
				require.NoError(t, err)
				require.NoError(t, st.Append(t.Context(), handedID, m))
			}
		}
		md, err := sessionstore.NewMetadata(map[string]string{"session_id": handedID, "working_dir": workspace, "name": "Mine"})
		require.NoError(t, err)
		require.NoError(t, st.Save(t.Context(), handedID, nil, md))
		say()
		handOver := func() (path, text string) {
			var out bytes.Buffer
			code, stderr := run(t, &out, "resume", handedID, "--with="+tool, "--json", "--sessions-root="+root, "--project=p")
			require.Equal(t, exitOK, code, stderr)
			files, err := filepath.Glob(filepath.Join(home, filepath.FromSlash(c.files)))
			require.NoError(t, err)
			require.Len(t, files, 1)
			raw, err := os.ReadFile(files[0])
			require.NoError(t, err)
			return files[0], string(raw)
		}
		lastName := func(text string) string {
			all := regexp.MustCompile(`"(?:customTitle|name)": ?"([^"]*)"`).FindAllStringSubmatch(text, -1)
			return all[len(all)-1][1]
		}
		path, text := handOver()
		require.Equal(t, "Mine", lastName(text))
		require.NoError(t, os.WriteFile(path, fmt.Appendf([]byte(text), c.named+"\n", "Theirs"), 0o600))
		say()
		_, text = handOver()
		require.Equal(t, 4, strings.Count(text, "Said."))
		require.Equal(t, "Theirs", lastName(text), tool)
		for _, name := range []string{"A", "B", "A"} {
			_, _, err = st.SetName(t.Context(), handedID, sessionstore.Naming{Name: name, Source: "manual"})
			require.NoError(t, err)
			_, text = handOver()
			require.Equal(t, name, lastName(text), tool)
			_, again := handOver()
			require.Equal(t, text, again)
		}
		require.NoError(t, st.Close())
	}
}

const handedID = "18f814b7-8af9-43da-b84e-49efb14e6492"
