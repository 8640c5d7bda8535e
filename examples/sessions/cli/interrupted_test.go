package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// interrupting is a standard output whose first bytes interrupt the tool. It counts what comes
// after them.
type interrupting struct {
	stop  func()
	begun bool
	after int
}

func (w *interrupting) Write(b []byte) (int, error) {
	if w.begun {
		w.after += len(b)
	}
	w.begun = true
	w.stop()
	return len(b), nil
}

// TestInterruptedWhileWriting interrupts commands in the midst of a long answer: little comes after
// that, and the exit code says it.
func TestInterruptedWhileWriting(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i, id := range []string{"talk-1", "talk-2"} {
		dir := filepath.Join(root, "p", "sessions", id)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		var text strings.Builder
		fmt.Fprintf(&text, "{\"role\": \"user\", \"content\": \"part %d\"}\n", i)
		for n := range 1000 {
			fmt.Fprintf(&text, `{"role": "user", "content": "question %d"}`+"\n"+`{"role": "assistant", "content": "%s"}`+"\n", n, strings.Repeat("an answer ", 100))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, transcriptName), []byte(text.String()), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{"session_id": "`+id+`"}`), 0o600))
	}
	for _, line := range []string{
		"show talk-1 -T", "show talk-1 -T --tools", "show talk-1 -T --json", "show talk-1 --last=900", "show talk-1 --last=900 --json",
		"export talk-1", "export talk-1 --redact", "export talk-1 --to=html", "export talk-1 --to=jsonl", "export talk-1 --to=jsonl --redact",
		"export talk-1 --to=tar", "export talk-1 --to=claude", "export talk-1 --to=codex",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			args := append(strings.Fields(line), "--sessions-root="+root, "--project=p")
			out, told := &interrupting{stop: stop}, &bytes.Buffer{}
			code := Run(ctx, Process{Args: args, Stdin: strings.NewReader(""), Stdout: out, Stderr: told, Env: func(string) string { return "" }})
			require.True(t, out.begun, told)
			require.Equal(t, exitInterrupted, code, told)
			require.LessOrEqual(t, out.after, writtenAtOnce)
		})
	}
}

// unread is a stream whose reader takes the first bytes, interrupts the tool, and reads no more.
type unread struct {
	stop  func()
	until chan struct{}
}

func (w *unread) Write(b []byte) (int, error) {
	w.stop()
	<-w.until
	return len(b), nil
}

// TestInterruptedWhileWaiting interrupts commands that wait for a reader, on standard output
// and on standard error: they end, and the exit code says it.
func TestInterruptedWhileWaiting(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "p", "sessions", "talk")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, transcriptName), []byte(`{"role": "user", "content": "a question"}`+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{"session_id": "talk"}`), 0o600))
	for _, line := range []string{"show talk -T", "show talk -T --json", "show talk --json", "export talk", "export talk --to=tar", "list", "list --tree talk", "stats --json", "verify"} {
		for _, both := range []bool{false, true} {
			if line == "verify" && !both { // it has nothing but a note
				continue
			}
			ctx, stop := context.WithCancel(t.Context())
			t.Cleanup(stop)
			end := make(chan struct{})
			t.Cleanup(func() { close(end) })
			out := &unread{stop, end}
			p := Process{Args: append(strings.Fields(line), "--sessions-root="+root, "--project=p"), Stdin: strings.NewReader(""), Stdout: out, Stderr: io.Discard, Env: func(string) string { return "" }}
			if both {
				p.Stderr = out
			}
			require.Equal(t, exitInterrupted, Run(ctx, p), line)
		}
	}
}
