package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// served is a process of "sessions mcp" in a directory of its own, and a client of it.
type served struct {
	*mcp.ClientSession
	cmd *exec.Cmd
}

// serve starts "sessions mcp" in the directory dir.
func serve(t *testing.T, dir, root string, args ...string) served {
	t.Helper()
	cmd := exec.Command("sessions", append([]string{"mcp", "--sessions-root=" + root}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "AMPLIFIER_SESSION_STATE_HOME="+t.TempDir())
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return served{s, cmd}
}

func (s served) call(t *testing.T, name string, args map[string]any) string {
	t.Helper()
	got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	require.NoError(t, err)
	return got.Content[0].(*mcp.TextContent).Text
}

// write makes a session of rows in the project of a directory.
func write(t *testing.T, root, of, id string, rows func(yield func(string) bool)) {
	t.Helper()
	dir := filepath.Join(root, sessionstore.ProjectSlug(of), "sessions", id)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	f, err := os.Create(filepath.Join(dir, "transcript.jsonl"))
	require.NoError(t, err)
	for row := range rows {
		_, err = f.WriteString(row + "\n")
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{"session_id": "`+id+`", "created": "2026-11-01T10:00:00+00:00"}`), 0o600))
}

func row(content string) string {
	text, _ := json.Marshal(content)
	return `{"role": "user", "content": ` + string(text) + `}`
}

// TestMCP asks the server as a process: it tells of its working directory's project alone, but
// where its user says otherwise, and follows what the tool hides meanwhile.
func TestMCP(t *testing.T) {
	t.Parallel()
	root, work := t.TempDir(), t.TempDir()
	work, err := filepath.EvalSymlinks(work)
	require.NoError(t, err)
	for id, of := range map[string]string{"here-1": work, "far-1": "/far"} {
		write(t, root, of, id, func(yield func(string) bool) { yield(row("the reservoir of " + id)) })
	}
	here, all := serve(t, work, root), serve(t, work, root, "--all-projects")
	for range 2 {
		told := here.call(t, "search_sessions", map[string]any{"words": "reservoir"})
		require.Contains(t, told, "the reservoir of here-1")
		require.NotContains(t, told, "far-1")
		told = all.call(t, "search_sessions", map[string]any{"words": "reservoir"})
		require.Contains(t, told, "the reservoir of here-1")
		require.Contains(t, told, "the reservoir of far-1")
		for _, more := range []string{"", "--no"} {
			cmd := exec.Command("sessions", strings.Fields("hide here-1 --sessions-root="+root+" "+more)...)
			cmd.Dir = work
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			told = here.call(t, "search_sessions", map[string]any{"words": "reservoir"})
			require.Equal(t, more != "", strings.Contains(told, "here-1"))
		}
	}
}

// TestMCPMemory asks about 10,000 sessions and a transcript of 200 MB.
func TestMCPMemory(t *testing.T) {
	testenv.Soak(t, "it writes 200 MB and 10,000 sessions")
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	root, work := t.TempDir(), t.TempDir()
	for i := range 10_000 {
		write(t, root, work, fmt.Sprintf("s-%05d", i), func(yield func(string) bool) { yield(row(fmt.Sprint("session of pebbles ", i))) })
	}
	write(t, root, work, "large", func(yield func(string) bool) {
		for i := range 50_000 {
			if !yield(row(fmt.Sprint(i, strings.Repeat(" pebbles and sand", 240)))) {
				return
			}
		}
	})
	s := serve(t, work, root)
	peak := func() int {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
		require.NoError(t, err)
		n, err := strconv.Atoi(regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(string(text))[1])
		require.NoError(t, err)
		return n
	}
	require.Contains(t, s.call(t, "read_session", map[string]any{"session": "nobody"}), "no such session")
	idle := peak()
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"list_sessions", nil},
		{"search_sessions", map[string]any{"words": "pebbles 9999"}},
		{"search_sessions", map[string]any{"words": "sand 49999"}},
		{"read_session", map[string]any{"session": "large", "turn": 25_000, "max_bytes": 40_960}},
		{"read_session", map[string]any{"session": "large"}},
		{"sessions_of_file", map[string]any{"path": "/pebbles"}},
		{"hidden_by_compaction", map[string]any{"session": "large"}},
	} {
		told := s.call(t, c.tool, c.args)
		now := peak()
		t.Logf("%s: %d bytes told, %d KiB above idle (%d)", c.tool, len(told), now-idle, idle)
		require.Less(t, now-idle, 64<<10, c.tool)
	}
}
