package cli

import (
	"bytes"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestRunningStays has a session that a program runs, as the newer Python
// tools do, in a directory of projects of its own: nothing takes it.
func TestRunningStays(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("hosts have no ownership lock on Windows")
	}
	t.Parallel()
	root, workspace := t.TempDir(), t.TempDir()
	st, err := sessionstore.Open(filepath.Join(root, "p", "sessions"), &sessionstore.Options{Workspace: workspace})
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	md, err := sessionstore.NewMetadata(map[string]string{"session_id": "busy", "working_dir": workspace})
	require.NoError(t, err)
	question, err := sessionstore.Text("user", "?", time.Now())
	require.NoError(t, err)
	call, err := sessionstore.NewMessage(map[string]any{"role": "assistant", "tool_calls": []map[string]any{{"id": "c"}}})
	require.NoError(t, err)
	require.NoError(t, st.Save(t.Context(), "busy", []sessionstore.Message{question, call}, md))
	hold, err := st.Acquire(t.Context(), "busy", sessionstore.Owner{App: "host"})
	require.NoError(t, err)

	flags := []string{"--sessions-root=" + root, "--project=p"}
	for _, args := range [][]string{
		{"delete", "busy", "--force"}, {"delete", "busy", "--force", "--even=recent,unsynced,parent"},
	} {
		var out bytes.Buffer
		code, stderr := run(t, &out, append(args, flags...)...)
		require.Equal(t, exitError, code, "%v: %s%s", args, out.String(), stderr)
		require.NotEmpty(t, stderr)
		s, err := st.Load(t.Context(), "busy")
		require.NoError(t, err)
		require.Len(t, s.Messages, 2)
	}
	var out bytes.Buffer
	code, stderr := run(t, &out, append([]string{"repair", "busy"}, flags...)...)
	require.Equal(t, exitError, code)
	require.Regexp(t, `session is locked: "host" runs it \(process .*\); end that program, or try again when it is done\n$`, stderr)
	out.Reset()
	code, stderr = run(t, &out, append([]string{"cleanup", "--days=0", "--force", "--even=recent"}, flags...)...)
	require.Equal(t, exitOK, code)
	require.Contains(t, stderr, "stays: busy: ")
	require.True(t, st.Exists("busy"))

	require.NoError(t, hold.Release())
	out.Reset()
	code, stderr = run(t, &out, append([]string{"repair", "busy"}, flags...)...)
	require.Equal(t, exitOK, code, stderr)
	code, stderr = run(t, &out, append([]string{"delete", "busy", "--force", "--even=recent"}, flags...)...)
	require.Equal(t, exitOK, code, stderr)
	require.False(t, st.Exists("busy"))
}

// TestHandOverOfARunningSession hands a session to another tool while a program runs it: the
// tool gets nothing, not half a turn. Afterwards it gets all of it.
func TestHandOverOfARunningSession(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("hosts have no ownership lock on Windows")
	}
	root, workspace, claude := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", claude)
	st, err := sessionstore.Open(filepath.Join(root, "p", "sessions"), &sessionstore.Options{Workspace: workspace})
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	md, err := sessionstore.NewMetadata(map[string]string{"session_id": "busy", "working_dir": workspace})
	require.NoError(t, err)
	question, err := sessionstore.Text("user", "?", time.Now())
	require.NoError(t, err)
	require.NoError(t, st.Save(t.Context(), "busy", []sessionstore.Message{question}, md))
	hold, err := st.Acquire(t.Context(), "busy", sessionstore.Owner{App: "host"})
	require.NoError(t, err)

	args := []string{"resume", "busy", "--with=claude", "--sessions-root=" + root, "--project=p"}
	var out bytes.Buffer
	code, stderr := run(t, &out, args...)
	require.Equal(t, exitError, code, out.String())
	require.NotEmpty(t, stderr)
	require.NoDirExists(t, filepath.Join(claude, "projects"))

	require.NoError(t, hold.Release())
	code, stderr = run(t, &out, args...)
	require.Equal(t, exitOK, code, stderr)
	files, err := filepath.Glob(filepath.Join(claude, "projects", "*", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, files, 1)
}
