package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// broken are the sessions of the page about sessions that do not go on: of Claude Code, and of the
// Amplifier tools.
var broken = map[string]string{
	".claude/projects/-shop/8f14aaaa-0000-4000-8000-000000000001.jsonl": `{"type":"user","uuid":"11111111-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"8f14aaaa-0000-4000-8000-000000000001","cwd":"/shop","timestamp":"2026-05-06T07:08:09.000Z","message":{"role":"user","content":"words that I said"}}
{"type":"assistant","uuid":"11111111-0000-4000-8000-000000000002","parentUuid":"11111111-0000-4000-8000-000000000001","sessionId":"8f14aaaa-0000-4000-8000-000000000001","cwd":"/shop","timestamp":"2026-05-06T07:08:10.000Z","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{}}]}}
`,
	".amplifier/projects/-shop/sessions/8f14bbbb/metadata.json": `{"session_id": "8f14bbbb", "created": "2026-01-01T00:00:00+00:00", "model": "claude-x", "working_dir": "/shop"}`,
	".amplifier/projects/-shop/sessions/8f14bbbb/transcript.jsonl": `{"role": "user", "content": "q"}
{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]}
`,
	"go/claude": "#!/bin/sh\n[ \"$1\" = --resume ]\n",
}

// TestRescuePage runs all commands of the page, one after the other.
func TestRescuePage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs programs, of which the race detector sees nothing")
	}
	top, err := filepath.Abs(root)
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(top, "examples/sessions/RESCUE.md"))
	require.NoError(t, err)
	env := surroundings(t, "")
	home := strings.TrimPrefix(env[0], "HOME=")
	for name, text := range broken {
		path := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
	}
	blocks := page{text: string(raw)}.blocks("sh")
	require.Len(t, blocks, 5)
	said := ""
	for _, b := range blocks {
		said += shell(t, top, b.code, env...)
	}
	require.Contains(t, said, "claude --resume ")
	require.Contains(t, said, "sessions undo 8f14bbbb brings back what it was")
	require.Contains(t, said, "Undone: 8f14bbbb has 2 messages again")
	require.Contains(t, said, "words that I said")
}
