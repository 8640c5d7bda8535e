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

// taking is an answer that is read once a directory is gone.
type taking struct {
	io.Reader
	dir string
}

func (in taking) Read(b []byte) (int, error) {
	if err := os.RemoveAll(in.dir); err != nil {
		return 0, err
	}
	return in.Reader.Read(b)
}

// TestTrashEmptyGoesOn empties a trash of which one receipt vanishes in between: the others
// go for good, and the error names that one.
func TestTrashEmptyGoesOn(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	sessions := filepath.Join(root, "p", "sessions")
	for i := range 3 {
		dir := filepath.Join(sessions, fmt.Sprintf("talk-%d", i))
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, transcriptName), []byte(`{"role": "user", "content": "a question"}`+"\n"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{}`), 0o600))
		var out bytes.Buffer
		code, stderr := run(t, &out, "delete", filepath.Base(dir), "--force", "--even=recent", "--sessions-root="+root, "--project=p")
		require.Equal(t, exitOK, code, stderr)
	}
	receipts, err := filepath.Glob(filepath.Join(sessions, ".trash", "2*"))
	require.NoError(t, err)
	require.Len(t, receipts, 3)
	var out, told bytes.Buffer
	p := Process{Args: []string{"trash", "empty", "--sessions-root=" + root, "--project=p"}, Stdin: taking{strings.NewReader("y\n"), receipts[1]}, Stdout: &out, Stderr: &told, Env: func(string) string { return "" }}
	require.Equal(t, exitError, Run(context.Background(), p))
	require.Regexp(t, `^✓ Removed 2 sessions \(\d+ B\) for good\n$`, out.String())
	require.Contains(t, told.String(), "stays in the trash: "+filepath.Base(receipts[1])+": ")
	left, err := filepath.Glob(filepath.Join(sessions, ".trash", "2*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
