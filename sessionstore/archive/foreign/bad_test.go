package foreign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLongLine imports a file with a line that is longer than what is read: the line
// is named, and all else is there.
func TestLongLine(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(many("g", 2))
	f, err := os.OpenFile(g.path, os.O_RDWR, 0)
	require.NoError(t, err)
	fi, err := f.Stat()
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("\n"+many("g", 3)[fi.Size():]), fi.Size()+maxLine+1)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	report, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
	require.NoError(t, err)
	require.Equal(t, []LineError{{5, errLongLine}}, report.Damaged)
	require.Equal(t, 1, report.Counts[0].UnreadLines)
	require.Len(t, healthy(t, g.st, report.Sessions[0].ID), 6)
	require.Equal(t, original(t, g.path), unpacked(t, g.st, report.Sessions[0].ID))
}

// TestLineReader gives lines around the limit.
func TestLineReader(t *testing.T) {
	t.Parallel()
	at := strings.Repeat("x", maxLine)
	in := newLineReader(strings.NewReader(at + "\n" + at + "y\nz"))
	l, err := in.next()
	require.NoError(t, err)
	require.False(t, l.long)
	require.Len(t, l.bytes, maxLine)
	l, err = in.next()
	require.NoError(t, err)
	require.True(t, l.long)
	require.Equal(t, int64(maxLine+1), l.offset)
	l, err = in.next()
	require.NoError(t, err)
	require.Equal(t, "z", string(l.bytes))
	require.Equal(t, 3, l.number)
}

// TestAgentFails goes on after a file of a sub-agent that cannot be read.
func TestAgentFails(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(many("g", 2))
	good := filepath.Join(filepath.Dir(g.path), "agent-b.jsonl")
	require.NoError(t, os.WriteFile(good, []byte(many("other", 1)), 0o600))
	h := History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w", Agents: []string{filepath.Join(filepath.Dir(g.path), "agent-a.jsonl"), good}}
	report, err := Import(t.Context(), g.p, h, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Len(t, report.Sessions, 2)
	require.Len(t, healthy(t, g.st, report.Sessions[1].ID), 2)
}

// TestOnlySidechain imports a file that has nothing but lines of a sub-agent. They are
// a session, which keeps the file.
func TestOnlySidechain(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(strings.ReplaceAll(many("g", 2), `"type"`, `"isSidechain":true,"type"`))
	made := g.run(nil)
	require.Len(t, made, 1)
	require.Equal(t, Agent, made[0].Kind)
	require.Len(t, healthy(t, g.st, made[0].ID), 4)
	require.Equal(t, original(t, g.path), unpacked(t, g.st, made[0].ID))
	require.Equal(t, Unchanged, g.run(nil)[0].Action)
}

// TestFindNamesBadFiles lists what can be read, and names the file that cannot be.
func TestFindNamesBadFiles(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "sessions")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rollout-good.jsonl"), []byte(`{"type":"session_meta","payload":{"id":"good"}}`), 0o600))
	bad := filepath.Join(dir, "rollout-bad.jsonl.zst")
	require.NoError(t, os.WriteFile(bad, []byte("not compressed"), 0o600))
	all, err := Find(t.Context(), Codex, &FindOptions{Home: home})
	require.ErrorContains(t, err, bad)
	require.Len(t, all, 1)
}
