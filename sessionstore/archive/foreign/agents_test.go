package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAgentInTwoFolders has two files of one sub-agent that both went on: an import that
// follows changes nothing.
func TestAgentInTwoFolders(t *testing.T) {
	t.Parallel()
	home, p := t.TempDir(), openProjects(t)
	write := func(name, text string) {
		name = filepath.Join(home, "projects", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	agent := func(uuid, parent, kind, said string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%q,"isSidechain":true,"agentId":"1","timestamp":"2026-03-04T10:00:00.000Z","cwd":"/w","sessionId":"g","message":{"role":%q,"content":[{"type":"text","text":%q}]}}`+"\n", kind, uuid, parent, kind, said)
	}
	both := agent("1", "", "user", "task") + agent("2", "1", "assistant", "done")
	write("-w/g.jsonl", turns("a"))
	write("-w/g/subagents/agent-1.jsonl", both+agent("3", "2", "user", "more")+agent("4", "3", "assistant", "one"))
	write("-x/g/subagents/agent-1.jsonl", both+agent("5", "2", "user", "other")+agent("6", "5", "assistant", "two"))
	for i := range 3 {
		all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
		require.NoError(t, err)
		require.Len(t, all, 1)
		report, err := Import(t.Context(), p, all[0], nil)
		require.NoError(t, err)
		for _, s := range report.Sessions {
			require.Equal(t, map[bool]Action{true: Created, false: Unchanged}[i == 0], s.Action, s.Kind)
		}
	}
}
