package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShowLarge shows a session a part at a time: the answers are those of the session in
// memory. With a damaged transcript or metadata it is in memory, and the note is there.
func TestShowLarge(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "p", "sessions", "long")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	var rows strings.Builder
	for i := 0; rows.Len() < largeFrom+partSize; i++ {
		fmt.Fprintf(&rows, `{"role": "user", "content": "question %d"}`+"\n", i)
		fmt.Fprintf(&rows, `{"role": "assistant", "content": "", "tool_calls": [{"id": "a%d", "tool": "bash", "arguments": {}}, {"id": "b%d", "tool": "ls", "arguments": {}}]}`+"\n", i, i)
		fmt.Fprintf(&rows, `{"role": "tool", "tool_call_id": "a%d", "content": "%s"}`+"\n"+`{"role": "tool", "tool_call_id": "b%d", "content": "done"}`+"\n", i, strings.Repeat("line ", 300), i)
		fmt.Fprintf(&rows, `{"role": "assistant", "content": "answer %d"}`+"\n", i)
	}
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	put(transcriptName, rows.String())
	put("metadata.json", `{"session_id": "long", "model": "m"}`)
	show := func(flags ...string) (string, string) {
		var out, told bytes.Buffer
		args := append([]string{"show", "long", "--sessions-root=" + root, "--project=p"}, flags...)
		Run(context.Background(), Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &told, Env: func(string) string { return "" }})
		return out.String(), told.String()
	}
	forms := [][]string{{}, {"--json"}, {"-T"}, {"-T", "--tools"}, {"-T", "--json"}}
	var large []string
	for _, form := range forms {
		text, told := show(form...)
		require.Empty(t, told)
		large = append(large, text)
	}
	require.NotContains(t, large[2], "no result")
	put("metadata.json.backup", `{"session_id": "long", "model": "m"}`)
	put("metadata.json", `{"session_id": "long", "mod`)
	for i, form := range forms {
		text, told := show(form...)
		require.Contains(t, told, "a backup was read")
		want := large[i]
		if slices.Contains(form, "--json") { // the facts of the damage are before the metadata
			want, text = want[strings.Index(want, `"metadata"`):], text[strings.Index(text, `"metadata"`):]
		}
		require.Equal(t, want, text, form)
	}
}
