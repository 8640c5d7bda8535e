package recall

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestProjectNames: a secret in the name of a project is neither told nor guessed.
func TestProjectNames(t *testing.T) {
	t.Parallel()
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	w := newWorld(t, func(s *Server) { s.All = true })
	st, err := w.p.Store("-w-" + secret)
	require.NoError(t, err)
	w.say(st, "s", nil, "needle")
	for name, n := range map[string]int{"": 1, "-w-": 1, "ghp_": 0, secret: 0} {
		for tool, args := range map[string]object{"list_sessions": {"project": name}, "search_sessions": {"project": name, "words": "needle"}} {
			got, text := w.call(tool, args)
			require.Len(t, got.Rows, n, "%s %q", tool, name)
			require.NotContains(t, text, secret[5:12])
		}
	}
}

// TestLongNames: an answer goes on, however long the names in it are and small the answer.
func TestLongNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *Server) { s.All = true })
	st, err := w.p.Store("-" + strings.Repeat("<", 230))
	require.NoError(t, err)
	id := strings.Repeat("ü", 110)
	w.say(st, id, map[string]string{"name": "a name"}, "needle", "more of it")
	for tool, args := range map[string]object{"list_sessions": {}, "search_sessions": {"words": "needle"}, "read_session": {"session": id, "turn": 1}} {
		args["max_bytes"] = 1
		rows := 0
		for from := "-"; from != ""; {
			a, _ := w.call(tool, args)
			require.NotEqual(t, args["from"], a.Next, tool)
			from, rows = a.Next, rows+len(a.Rows)
			args["from"] = from
		}
		require.NotZero(t, rows, tool)
	}
}

// TestProjectsUntold: a project of which nothing may be told is as one that never was.
func TestProjectsUntold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *Server) { s.All = true })
	w.say(w.st.Store, "s", nil, "needle")
	require.NoError(t, w.st.Hide(t.Context(), "s"))
	for _, c := range []struct {
		tool string
		args object
	}{{"list_sessions", object{}}, {"list_sessions", object{"after": "x"}}, {"search_sessions", object{"words": "needle"}}, {"search_sessions", object{"words": " "}}, {"sessions_of_file", object{"path": "a"}}} {
		c.args["project"] = project
		_, is := w.call(c.tool, c.args)
		c.args["project"] = "nobody"
		_, none := w.call(c.tool, c.args)
		require.Equal(t, none, is, "%v", c)
	}
}

// TestNamesOfFiles: a file is found however its name is written in the call.
func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "the paths are those of Unix")
	w := newWorld(t, nil)
	w.say(w.st.Store, "s", nil, "a prompt")
	for name, path := range map[string]string{
		`/w/caf\u00e9.go`: "/w/café.go", "/w/cafe\u0301.go": "/w/café.go", `/w/a \"b\".go`: `/w/a "b".go`, `\/w\/c.go`: "/w/c.go", `/w/d\\e.go`: `/w/d\e.go`, "/w/sub/": "/w/sub",
		`/w/(x)+[y]*.go`: `/w/(x)+[y]*.go`, `/w/x/../f.go`: "/w/f.go", `/w/<&>.go`: "/w/<&>.go", `/w/.env`: "/w/.env", "/w/-": "/w/-", `/w/\ud83d\ude42`: "/w/🙂",
	} {
		for _, arguments := range []string{`{"path": "` + name + `"}`, string(quoted(`{"path": "` + name + `"}`))} {
			row := `{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "tool": "read", "arguments": ` + arguments + `}]}`
			require.NoError(t, os.WriteFile(filepath.Join(w.st.Dir(), "s", "transcript.jsonl"), []byte(row+"\n"), 0o600))
			got, _ := w.call("sessions_of_file", object{"path": path})
			require.Len(t, got.Rows, 1, row)
			got, _ = w.call("search_sessions", object{"words": filepath.Base(path), "who": "tool"})
			require.Len(t, got.Rows, 1, row)
		}
	}
}
