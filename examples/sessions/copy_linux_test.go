package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestCopyLeavesOutWhatIsKept copies a project to another remote after rules came that keep
// sessions on this machine: a session, one that was deleted here since, a child of one, a child
// that was never here, and one whose metadata are lost. None gets there, and each is named.
func TestCopyLeavesOutWhatIsKept(t *testing.T) { //nolint:paralleltest // it sets the environment
	device, other, shared := t.TempDir(), t.TempDir(), t.TempDir()
	sessions := filepath.Join(device, "projects", "demo", "sessions")
	for _, id := range []string{"open", "late", "gone", "child", "lost"} {
		say(t, device, id, "secret")
	}
	require.NoError(t, os.WriteFile(filepath.Join(sessions, "child", "metadata.json"), []byte(`{"session_id": "child", "parent_id": "late"}`), 0o600))
	for _, name := range []string{"one", "two"} {
		tool(t, device, 0, "remote", "add", name, "dir:"+filepath.Join(shared, name), "--provision")
	}
	tool(t, device, 0, "sync", "--project=demo", "--remote=one")
	say(t, other, "far", "secret")
	require.NoError(t, os.WriteFile(filepath.Join(other, "projects", "demo", "sessions", "far", "metadata.json"), []byte(`{"session_id": "far", "parent_id": "gone"}`), 0o600))
	tool(t, other, 0, "sync", "--project=demo", "--remote=dir:"+filepath.Join(shared, "one"))
	for _, id := range []string{"late", "gone"} {
		tool(t, device, 0, "remote", "keep-local", id, "--project=demo", "--remote=one")
	}
	require.NoError(t, os.RemoveAll(filepath.Join(sessions, "gone")))
	require.NoError(t, os.WriteFile(filepath.Join(sessions, "lost", "metadata.json"), []byte("{"), 0o600))
	kept := []string{"child", "far", "gone", "late", "lost"}

	out, errs := tool(t, device, 0, "remote", "copy", "one", "two", "--project=demo")
	require.Contains(t, out, "6 sessions looked at, 1 copied")
	for _, id := range kept {
		require.Contains(t, errs, "Not copied, since a rule keeps it on this machine: "+id)
	}
	out, _ = tool(t, device, 0, "remote", "copy", "one", "two", "--json")
	var sum struct{ Skipped []string }
	require.NoError(t, json.Unmarshal([]byte(out), &sum))
	require.ElementsMatch(t, kept, sum.Skipped)

	tool(t, device, 0, "remote", "show", "open", "--project=demo", "--remote=two")
	lost := testenv.Lost(t)
	require.NoError(t, filepath.WalkDir(filepath.Join(shared, "two"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, id := range kept {
			require.False(lost, strings.Contains(string(text), `"`+id+`"`), path)
		}
		return err
	}))
}
