package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExportArguments exports calls of which the arguments are no object, which no tool
// takes: they are the member "arguments" of one. A text that is JSON of an object is that
// object. What was said here comes home to the byte, and another store gets the whole value.
func TestExportArguments(t *testing.T) {
	t.Parallel()
	for here, there := range map[string]string{
		`[1, {"a": 2}]`: `{"arguments": [1, {"a": 2}]}`, `7.50`: `{"arguments": 7.50}`, `true`: `{"arguments": true}`, `null`: `{}`, `""`: `{}`,
		`"ls -l"`: `{"arguments": "ls -l"}`, `"{\"a\":"`: `{"arguments": "{\"a\":"}`, `"[1]"`: `{"arguments": [1]}`, `"{\"a\": [1]}"`: `{"a": [1]}`,
		`{"arguments": [1]}`: `{"arguments": [1]}`, `{"a": 1}`: `{"a": 1}`,
	} {
		rows := []string{
			`{"role": "user", "content": "Look", "metadata": {"timestamp": "2026-03-04T05:06:07.000+00:00"}}`,
			fmt.Sprintf(`{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "tool": "look", "arguments": %s}]}`, here),
			`{"role": "tool", "tool_call_id": "c1", "name": "look", "content": "seen"}`,
			`{"role": "assistant", "content": "Seen"}`,
		}
		for _, tool := range Tools() {
			t.Run(string(tool)+" "+here, func(t *testing.T) {
				t.Parallel()
				a := newAway(t, openProjects(t), nativeID, tool, rows...)
				was := a.rows(a.id)
				a.export()
				a.goOn("Further")
				require.Equal(t, []Imported{{a.id, Conversation, Updated, len(rows) + 2}}, a.back())
				require.Equal(t, was, a.rows(a.id)[:len(was)])

				path := filepath.Join(t.TempDir(), filepath.Base(a.path))
				require.NoError(t, os.WriteFile(path, []byte(original(t, a.path)), 0o600))
				p := openProjects(t)
				report, err := Import(t.Context(), p, History{Tool: tool, ID: "x", Path: path}, &Options{Project: "-w"})
				require.NoError(t, err)
				st, err := p.Store("-w")
				require.NoError(t, err)
				calls := healthy(t, st, report.Sessions[0].ID)[1].ToolCalls()
				require.Len(t, calls, 1)
				require.JSONEq(t, there, string(calls[0].Arguments))
			})
		}
	}
}
