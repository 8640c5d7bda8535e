package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// largeTalk makes a session with a transcript and a log of so many bytes.
func largeTalk(t *testing.T, root, id string, bytes int) {
	t.Helper()
	dir := filepath.Join(root, "p", "sessions", id)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	write := func(name string, line func(n int) string) {
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		for n, size := 0, 0; size < bytes; n++ {
			done, err := io.WriteString(f, line(n))
			require.NoError(t, err)
			size += done
		}
		require.NoError(t, f.Close())
	}
	write("transcript.jsonl", func(n int) string {
		return fmt.Sprintf(`{"role": "user", "content": "question %d of %s", "timestamp": "2026-01-01T00:00:00Z"}`+"\n"+
			`{"role": "assistant", "content": "", "tool_calls": [{"id": "c%d", "tool": "bash", "arguments": {"command": "ls"}}]}`+"\n"+
			`{"role": "tool", "tool_call_id": "c%d", "content": "%s"}`+"\n"+`{"role": "assistant", "content": "%s"}`+"\n",
			n, id[:1+min(n/1000, 2)], n, n, strings.Repeat(`line of output\n`, 200), strings.Repeat("an answer of words ", 80))
	})
	write("events.jsonl", func(n int) string {
		return fmt.Sprintf(`{"ts": "2026-01-01T00:00:00.000+00:00", "event": "llm:response", "session_id": "%s", "data": {"model": "m", "usage": {"input_tokens": %d}, "raw": "%s"}}`+"\n",
			id, n, strings.Repeat("x", 3000))
	})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{"session_id": "`+id+`"}`), 0o600))
}

// opened waits until a process has a file of the sessions open, and reports whether it had one
// before it ended.
func opened(cmd *exec.Cmd, root string, ended <-chan error) bool {
	for {
		names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", cmd.Process.Pid))
		for _, name := range names {
			if to, err := os.Readlink(name); err == nil && strings.HasPrefix(to, root) && strings.HasSuffix(to, ".jsonl") {
				return true
			}
		}
		select {
		case <-ended:
			return false
		default:
		}
	}
}

// interrupted runs the tool, sends SIGINT once it has a file of the sessions open, and returns
// its exit code, its notes, and how long it went on after the signal.
func interrupted(t *testing.T, root string, args []string) (code int, notes string, took time.Duration) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Args = append(append([]string{"sessions"}, args...), "--sessions-root="+root)
	cmd.Env = append(os.Environ(), "AMPLIFIER_SESSION_STATE_HOME="+root)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if !opened(cmd, root, ended) {
		return cmd.ProcessState.ExitCode(), errs.String(), 0
	}
	begin := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); !errors.Is(err, os.ErrProcessDone) {
		require.NoError(t, err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		require.NoError(t, cmd.Process.Kill())
		t.Fatal("it goes on")
	}
	return cmd.ProcessState.ExitCode(), errs.String(), time.Since(begin)
}

// TestInterruptedWhileReading sends SIGINT to each command that reads a large session, once it
// has a file of it open. It ends with 130; how long that takes is shown. A command that came to
// its end before the signal is called again.
func TestInterruptedWhileReading(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	size := 30 << 20
	if testenv.Long() {
		size = 200 << 20
	}
	largeTalk(t, root, "aaa-1", size)
	largeTalk(t, root, "aab-2", size)
	for _, call := range []string{
		"diagnose aaa", "info aaa", "find --status broken", "find --keyword nowhere", "show aaa -T", "show aaa -T --json", "show aaa --last=5000",
		"resume --show aaa", "verify", "verify aaa", "verify --mend aaa", "search nowhere", "stats", "secrets aaa", "events aaa --name nope", "events summary aaa",
		"export aaa", "export aaa --to=html", "export aaa --to=tar", "export aaa --to=claude", "export aaa --redact", "export aaa -o " + root + "/x.html",
		"repair aaa --for gemini", "repair --salvage aaa", "rewind aaa --to-turn 3", "fork aaa --at-turn 3",
	} {
		t.Run(call, func(t *testing.T) {
			for range 5 {
				code, notes, took := interrupted(t, root, strings.Fields(call))
				t.Logf("%4d ms", took.Milliseconds())
				if code == 130 {
					require.Contains(t, notes, "interrupted")
					return
				}
				t.Logf("exit code %d: %s", code, notes)
			}
			require.False(t, testenv.Long(), "it never ended with 130") // of less, some are quicker than the signal
		})
	}
}
