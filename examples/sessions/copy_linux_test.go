package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestCopyLeavesOutWhatIsKept copies a project to another remote after rules came that keep
// sessions on this machine: a session, one that was deleted here since, a child of one, a child
// that was never here, and one whose metadata are lost. None gets there, and each is named.
func TestCopyLeavesOutWhatIsKept(t *testing.T) { //nolint:paralleltest // it sets the environment
	device, other, shared := t.TempDir(), t.TempDir(), t.TempDir()
	for _, id := range []string{"open", "late", "gone", "child", "lost"} {
		say(t, device, id, "secret")
	}
	describe(t, device, "child", `{"session_id": "child", "parent_id": "late"}`)
	twoRemotes(t, device, shared)
	tool(t, device, 0, "sync", "--project=demo", "--remote=one")
	say(t, other, "far", "secret")
	describe(t, other, "far", `{"session_id": "far", "parent_id": "gone"}`)
	tool(t, other, 0, "sync", "--project=demo", "--remote=dir:"+filepath.Join(shared, "one"))
	for _, id := range []string{"late", "gone"} {
		tool(t, device, 0, "remote", "keep-local", id, "--project=demo", "--remote=one")
	}
	require.NoError(t, os.RemoveAll(filepath.Join(device, "projects", "demo", "sessions", "gone")))
	describe(t, device, "lost", "{")
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
	requireNowhere(t, filepath.Join(shared, "two"), kept...)
}

// requireNowhere requires that no file below dir names one of the sessions.
func requireNowhere(t *testing.T, dir string, ids ...string) {
	t.Helper()
	lost := testenv.Lost(t)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, id := range ids {
			require.False(lost, strings.Contains(string(text), `"`+id+`"`), path)
		}
		return err
	}))
}

// describe writes the metadata of a session below a home directory.
func describe(t *testing.T, home, id, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(home, "projects", "demo", "sessions", id, "metadata.json"), []byte(text), 0o600))
}

// twoRemotes adds the remotes one and two to a home directory.
func twoRemotes(t *testing.T, home, shared string) {
	t.Helper()
	for _, name := range []string{"one", "two"} {
		tool(t, home, 0, "remote", "add", name, "dir:"+filepath.Join(shared, name), "--provision")
	}
}

// TestCopyLeavesOutGrandchildren: a session here is a child of one that only the remote has, which is
// a child of one that a rule keeps, here or deleted here. A child that was released goes along.
func TestCopyLeavesOutGrandchildren(t *testing.T) { //nolint:paralleltest // it sets the environment
	for _, deleted := range []bool{false, true} {
		device, other, shared := t.TempDir(), t.TempDir(), t.TempDir()
		for _, id := range []string{"open", "gone", "free"} {
			say(t, device, id, "secret")
		}
		describe(t, device, "free", `{"session_id": "free", "parent_id": "gone"}`)
		twoRemotes(t, device, shared)
		tool(t, device, 0, "sync", "--project=demo", "--remote=one")
		say(t, other, "far", "secret")
		describe(t, other, "far", `{"session_id": "far", "parent_id": "gone"}`)
		tool(t, other, 0, "sync", "--project=demo", "--remote=dir:"+filepath.Join(shared, "one"))
		say(t, device, "grand", "secret")
		describe(t, device, "grand", `{"session_id": "grand", "parent_id": "far"}`)
		say(t, device, "great", "secret")
		describe(t, device, "great", `{"session_id": "great", "parent_id": "grand"}`)
		tool(t, device, 0, "sync", "grand", "great", "--project=demo", "--remote=one")
		tool(t, device, 0, "remote", "keep-local", "gone", "--project=demo", "--remote=one")
		tool(t, device, 0, "remote", "keep-local", "free", "--release", "--project=demo", "--remote=one")
		if deleted {
			require.NoError(t, os.RemoveAll(filepath.Join(device, "projects", "demo", "sessions", "gone")))
		}
		out, errs := tool(t, device, 0, "remote", "copy", "one", "two", "--project=demo")
		require.Contains(t, out, "6 sessions looked at, 2 copied")
		for _, id := range []string{"far", "gone", "grand", "great"} {
			require.Contains(t, errs, "Not copied, since a rule keeps it on this machine: "+id)
		}
		requireNowhere(t, filepath.Join(shared, "two"), "far", "grand", "great")
		tool(t, device, 0, "remote", "show", "free", "--project=demo", "--remote=two")
	}
}

// otherRules are rules of redaction that the tool does not have.
type otherRules struct{}

func (otherRules) Version() string         { return "other/1" }
func (otherRules) Line(line []byte) []byte { return line }

// TestCopyLeavesOutWhatRedactionHides: where another program's rules of redaction hold, nothing is
// copied, a session that is held back as little as others, and each is named with its reason.
func TestCopyLeavesOutWhatRedactionHides(t *testing.T) { //nolint:paralleltest // it sets the environment
	device, shared := t.TempDir(), t.TempDir()
	say(t, device, "open", "secret")
	say(t, device, "lost", "secret")
	twoRemotes(t, device, shared)
	tool(t, device, 0, "sync", "--project=demo", "--remote=one")
	say(t, device, "kept", "secret")
	tool(t, device, 0, "remote", "keep-local", "kept", "--project=demo", "--remote=one")
	describe(t, device, "lost", "{")
	s, err := hybrid.Open(t.Context(), filepath.Join(device, "projects", "demo", "sessions"), &hybrid.Options{Identity: "dir", Project: "demo", Redact: otherRules{}})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	out, errs := tool(t, device, 0, "remote", "copy", "one", "two", "--project=demo")
	require.Contains(t, out, "2 sessions looked at, 0 copied")
	require.Contains(t, errs, "Not copied, since a rule keeps it on this machine: lost")
	require.Contains(t, errs, "Not copied, since rules of redaction hold here that this program does not apply")
	requireNowhere(t, filepath.Join(shared, "two"), "open", "lost")
}
