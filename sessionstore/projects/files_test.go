package projects_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// fileCalls returns the calls that name a file as session:message/turn tool, with ? for a guess.
func fileCalls(t *testing.T, p *projects.Projects, path string, q projects.Query) (all, failed []string) {
	t.Helper()
	for c, err := range p.Files(t.Context(), path, q) {
		if err != nil {
			failed = append(failed, c.ID)
			continue
		}
		all = append(all, fmt.Sprintf("%s:%d/%d %s%s", c.ID, c.Message, c.Turn, c.Text, map[bool]string{true: "?"}[c.Guess]))
	}
	return all, failed
}

func TestFiles(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "the paths are those of Unix")
	dir := t.TempDir()
	session := func(id, created, metadata string, lines ...string) {
		write(t, `{"created": "`+created+`"`+metadata+`}`, dir, "p", "sessions", id, metadataFile)
		write(t, strings.Join(lines, "\n")+"\n", dir, "p", "sessions", id, transcriptFile)
	}
	call := func(tool, arguments string) string {
		return `{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "tool": "` + tool + `", "arguments": ` + arguments + `}], "ts": "2026-01-01T00:00:00Z"}`
	}
	block := `{"role": "assistant", "content": [{"type": "tool_use", "id": "2", "name": "edit", "input": {"file_path": "docs\/a-b.md"}}]}`
	session("new", "2026-01-02T00:00:00Z", `, "working_dir": "/w", "import": {"tool": "claude"}`, user("docs/a-b.md"), call("read", `{"path": "/w/docs/a-b.md"}`), `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "docs/a-b.md"}]}`,
		user("go on"), call("bash", `"{\"command\": \"cat 'docs/a-b.md'\"}"`), block)
	session("old", "2026-01-01T00:00:00Z", `, "working_dir": "/w/docs"`, call("read", `{"path": "a-b.md"}`), call("read", `{"path": "docs/a-b.md"}`))
	session("nowhere", "2026-01-03T00:00:00Z", ``, call("read", `{"path": "a-b.md"}`))
	session("torn", "2026-01-04T00:00:00Z", ``, user("docs/a-b.md"), `{"role": "us`)
	p := openProjects(t, dir)

	all, failed := fileCalls(t, p, "/w/x/../docs//a-b.md", projects.Query{})
	require.Equal(t, []string{"new:2/1 read", "new:5/2 bash?", "new:6/2 edit", "old:1/0 read"}, all)
	require.Equal(t, []string{"torn"}, failed)
	all, _ = fileCalls(t, p, "/w/docs/a-b.md", projects.Query{Tool: "claude"})
	require.Len(t, all, 3)
	all, failed = fileCalls(t, p, "/w/docs/a-b.md", projects.Query{Tool: "native", Skip: func(dir string) bool { return strings.HasSuffix(dir, "torn") }})
	require.Equal(t, []string{"old:1/0 read"}, all)
	require.Empty(t, failed, "a session that is left out is not told")
	for c := range p.Files(t.Context(), "/w/docs/a-b.md", projects.Query{Limit: 1}) {
		require.Equal(t, "2026-01-01", c.Time.Format("2006-01-02"))
		break
	}
}

// TestSearchRoles looks for what one side said.
func TestSearchRoles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, `{}`, dir, "p", "sessions", "s", metadataFile)
	write(t, strings.Join([]string{
		user("a needle"),
		`{"role": "assistant", "content": "a needle", "tool_calls": [{"id": "1", "tool": "x", "arguments": {}}]}`,
		`{"role": "tool", "tool_call_id": "1", "content": "a needle"}`,
		`{"role": "assistant", "content": "", "tool_calls": [{"id": "2", "tool": "needle", "arguments": {}}, {"id": "3", "tool": "x", "arguments": {}}]}`,
		`{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "2", "content": "a needle"}]}`,
		`{"role": "user", "content": [{"type": "text", "text": "hay"}, {"type": "tool_result", "tool_use_id": "3", "content": [{"type": "text", "text": "hay"}, {"type": "text", "text": "a needle"}]}]}`,
	}, "\n")+"\n", dir, "p", "sessions", "s", transcriptFile)
	p := openProjects(t, dir)
	for _, tt := range []struct {
		sought sessionstore.Sought
		found  string
	}{
		{sessionstore.Sought{}, "1 user, 2 assistant"},
		{sessionstore.Sought{Tools: true}, "1 user, 2 assistant, 3 tool, 4 assistant, 5 tool, 6 tool"},
		{sessionstore.Sought{Role: "user", Tools: true}, "1 user"},
		{sessionstore.Sought{Role: "assistant"}, "2 assistant"},
		{sessionstore.Sought{Role: "assistant", Tools: true}, "2 assistant, 4 assistant"},
		{sessionstore.Sought{Role: "tool"}, "3 tool, 5 tool, 6 tool"},
	} {
		tt.sought.Text = "needle"
		hits, failed := searched(t.Context(), p, tt.sought, projects.Query{})
		require.Empty(t, failed)
		var found []string
		for _, h := range hits {
			found = append(found, fmt.Sprint(h.Message, " ", h.Role))
		}
		require.Equal(t, tt.found, strings.Join(found, ", "), "%+v", tt.sought)
	}
	_, failed := searched(t.Context(), p, sessionstore.Sought{Text: "needle", Role: "model"}, projects.Query{})
	require.ErrorContains(t, failed["p/s"], "none of user, assistant and tool")
}
