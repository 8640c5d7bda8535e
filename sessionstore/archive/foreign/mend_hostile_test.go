package foreign

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// oddRows are sessions whose rows a provider takes, and of which the lines of a tool say less.
func oddRows() map[string][]string {
	uses := `{"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "x"}}]}`
	both := `{"role": "assistant", "content": [{"type": "text", "text": "I look"}, {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "x"}}], "tool_calls": [{"id": "c1", "tool": "bash", "arguments": {"command": "x"}}]}`
	given := func(more string) string {
		return `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "one"}]}` + more + `]}`
	}
	document := `{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "page"}}`
	return map[string][]string{
		"a call in both forms":       {asked("go"), both, result("c1", "one"), answered("done")},
		"results as blocks":          {asked("go"), uses, given(""), answered("done")},
		"results and a prompt":       {asked("go"), uses, given(`, {"type": "text", "text": "and on"}`), answered("done")},
		"a document alone":           {`{"role": "user", "content": [` + document + `]}`, answered("done")},
		"a document and a text":      {`{"role": "user", "content": [` + document + `, {"type": "text", "text": "Read"}]}`, answered("done")},
		"thinking alone":             {asked("go"), `{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "c2lnbg=="}, {"type": "text", "text": "so"}]}`, asked("on"), answered("done")},
		"redacted":                   {asked("go"), `{"role": "assistant", "content": [{"type": "redacted_thinking", "data": "c2lnbg=="}, {"type": "text", "text": "so"}]}`, asked("on"), answered("done")},
		"a result without a text":    {asked("go"), calling("c1"), `{"role": "tool", "name": "bash", "tool_call_id": "c1", "content": [` + `{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"}}` + `]}`, answered("done")},
		"an empty result":            {asked("go"), calling("c1"), result("c1", ""), answered("done")},
		"a reminder between":         {asked("go"), calling("c1"), result("c1", "one"), asked("<system-reminder>\nBe kind.\n</system-reminder>"), answered("done")},
		"a reminder first":           {asked("<system-reminder>\nBe kind.\n</system-reminder>"), asked("go"), answered("done")},
		"a system row":               {`{"role": "system", "content": "You are kind."}`, asked("go"), answered("done")},
		"arguments that are no JSON": {asked("go"), `{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": "{\"command\": \"x"}}]}`, result("c1", "one"), answered("done")},
		"a picture of another form":  {`{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"}}]}`, answered("done")},
		"a dot in a name":            {asked("go"), `{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "tool": "fs.read", "arguments": {}}]}`, result("c1", "one"), answered("done")},
		"a result of nothing":        {asked("go"), uses, `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]}`, answered("done")},
		"server tools":               {asked("go"), `{"role": "assistant", "content": [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}]}`, asked("on"), answered("done")},
	}
}

// TestExportOdd exports sessions of which the lines of a tool say less than the rows: its
// provider takes the lines, and only what is new comes home.
func TestExportOdd(t *testing.T) {
	t.Parallel()
	for name, rows := range oddRows() {
		for i, tool := range []Tool{Claude, Codex} {
			t.Run(name+"/"+string(tool), func(t *testing.T) {
				t.Parallel()
				a := newAway(t, openProjects(t), fmt.Sprintf("0a0a0a0a-0000-4000-8000-00000000000%d", i), tool, rows...)
				ours := a.rows(a.id)
				a.export()
				a.requireSent(original(t, a.path), accept.RolesInARow) // Claude Code joins lines of the user
				a.back()
				require.Equal(t, ours, a.rows(a.id))
				a.goOn("one")
				a.back()
				require.Equal(t, []string{a.id}, a.all())
				require.True(t, strings.HasPrefix(a.rows(a.id), ours))
				require.Len(t, strings.Split(a.rows(a.id), "\n"), len(strings.Split(ours, "\n"))+2, a.rows(a.id))
				a.say("two")
				ours = a.rows(a.id)
				next, _ := a.exportWith(nil)
				a.requireSent(next, accept.RolesInARow)
				require.NoError(t, os.WriteFile(a.path, []byte(next), 0o600))
				a.back()
				require.Equal(t, ours, a.rows(a.id))
			})
		}
	}
}
