package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// openSeen is a standard output that looks whether this process has a file open while it is
// written to.
type openSeen struct {
	path          string
	written, seen int
}

func (w *openSeen) Write(b []byte) (int, error) {
	w.written++
	names, err := filepath.Glob("/proc/self/fd/*")
	for _, name := range names {
		if to, err := os.Readlink(name); err == nil && to == w.path {
			w.seen++
		}
	}
	return len(b), err
}

// TestShowHoldsNoTranscript shows a session that is read by the index, to a reader that may
// take its time: a transcript that stays open would make each append write all of it.
func TestShowHoldsNoTranscript(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	dir := filepath.Join(root, "p", "sessions", "long")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	var rows strings.Builder
	for i := 0; rows.Len() < largeFrom+partSize; i++ {
		fmt.Fprintf(&rows, `{"role": "user", "content": "question %d"}`+"\n"+`{"role": "assistant", "content": "%s"}`+"\n", i, strings.Repeat("answer ", 300))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, transcriptName), []byte(rows.String()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{"session_id": "long"}`), 0o600))
	for _, flags := range []string{"-T", "-T --json", "--last=3", "--turn=7", "--last=3 --json"} {
		out := &openSeen{path: filepath.Join(dir, transcriptName)}
		args := append([]string{"show", "long", "--sessions-root=" + root, "--project=p"}, strings.Fields(flags)...)
		code := Run(t.Context(), Process{Args: args, Stdin: strings.NewReader(""), Stdout: out, Stderr: os.Stderr, Env: func(string) string { return "" }})
		require.Equal(t, exitOK, code, flags)
		require.Positive(t, out.written, flags)
		require.Zero(t, out.seen, flags)
	}
}
