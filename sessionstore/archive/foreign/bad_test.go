package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
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
	_, err = f.WriteAt([]byte("\n"+many("g", 3)[fi.Size():]), fi.Size()+64<<20+1)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	ctx, counted := counting(t)
	report, err := Import(ctx, g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"line 5: it is longer than 64 MiB"}, why(report.Damaged))
	require.Equal(t, 1, (*counted)[0].UnreadLines)
	require.Len(t, healthy(t, g.st, report.Sessions[0].ID), 6)
	require.Equal(t, original(t, g.path), unpacked(t, g.st, report.Sessions[0].ID))
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

// TestDamagedLineOfAnotherFile has damaged lines in the files that a history has beside
// its own one: the report names the file and the line there.
func TestDamagedLineOfAnotherFile(t *testing.T) {
	t.Parallel()
	const damaged = `{"type":"assistant","uuid":` + "\n"
	lines := strings.SplitAfter(many("g", 3), "\n")
	some := func(from, to int) string { return strings.Join(lines[from:to], "") }
	codex := strings.SplitAfter(codexLines(0, "", "one", "two"), "\n")
	first := strings.Join(codex[:3], "")
	fork := func(id string, offset int) string {
		return strings.Replace(codexLines(3, base(threadID, 3, offset)+`,"forked_from_id":"`+threadID+`"`, "three"), `"id":"`+threadID, `"id":"`+id, 1)
	}
	claude := func(folder, name string) string { return filepath.Join("projects", folder, name+".jsonl") }
	thread := func(id string) string {
		return filepath.Join("sessions", "rollout-2026-09-09T10-00-00-"+id+".jsonl")
	}
	const other = "01a08000-0000-7000-8000-0000000000cc"
	for name, c := range map[string]struct {
		tool  Tool
		files map[string]string
		want  map[string]int // lines by file
	}{
		"of a sub-agent": {Claude, map[string]string{
			claude("-w", "g"): some(0, 4),
			filepath.Join("projects", "-w", "g", "subagents", "agent-a.jsonl"): strings.ReplaceAll(some(0, 2), "g-", "a-") + damaged,
		}, map[string]int{"agent-a.jsonl": 3}},
		"of a sub-agent without its session": {Claude, map[string]string{
			filepath.Join("projects", "-w", "g", "subagents", "agent-a.jsonl"): damaged + some(0, 2),
		}, map[string]int{"agent-a.jsonl": 1}},
		"of a copy in another folder": {Claude, map[string]string{
			claude("-w", "g"):  some(0, 2) + damaged + some(2, 4),
			claude("-w2", "g"): some(0, 2) + "\n" + strings.ReplaceAll(some(4, 6), "g-user-1", "g-assistant-0") + damaged,
		}, map[string]int{filepath.Join("-w2", "g.jsonl"): 6}},
		"of a segment": {Codex, map[string]string{
			thread(threadID):                      first + damaged,
			thread(threadID + "_" + segmentID(1)): codexLines(3, base(threadID, 3, len(first)), "three") + damaged,
		}, map[string]int{threadID + ".jsonl": 4, segmentID(1) + ".jsonl": 4}},
		"of a copy that went on otherwise": {Codex, map[string]string{
			thread(threadID): strings.Join(codex, ""),
			filepath.Join("archived_sessions", "rollout-x-"+threadID+".jsonl"): first + "\n" + codexLines(9, "", "three") + damaged,
		}, map[string]int{filepath.Join("archived_sessions", "rollout-x-"+threadID+".jsonl"): 8}},
		"of what a fork begins with": {Codex, map[string]string{
			thread(threadID): damaged + first,
			thread(other):    fork(other, len(damaged+first)) + damaged,
		}, map[string]int{threadID + ".jsonl": 1, other + ".jsonl": 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for path, text := range c.files {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(home, path)), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(home, path), []byte(text), 0o600))
			}
			all, err := Find(t.Context(), c.tool, &FindOptions{Home: home})
			require.NoError(t, err)
			got, p := map[string]int{}, openProjects(t)
			for _, h := range all {
				report, err := Import(t.Context(), p, h, nil)
				require.NoError(t, err)
				for _, d := range report.Damaged {
					path := h.Path
					if in, ok := errors.AsType[*fs.PathError](d.Err); ok {
						path = in.Path
						require.NotEqual(t, h.Path, path)
					}
					for end := range c.want {
						if strings.HasSuffix(path, end) {
							got[end] = d.Line
						}
					}
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestLineError finds the line in an error of Import, and the reason.
func TestLineError(t *testing.T) {
	t.Parallel()
	failed := error(lineErrors{fmt.Errorf("import: %w", errors.Join(ErrEmpty, &thread.LineError{Line: 3, Err: ErrChanged}))})
	var line *LineError
	require.ErrorAs(t, failed, &line)
	require.Equal(t, 3, line.Line)
	require.EqualError(t, line, "line 3: "+ErrChanged.Error())
	require.ErrorIs(t, line, ErrChanged)
	require.ErrorIs(t, failed, ErrEmpty)
	require.False(t, errors.As(error(lineErrors{ErrEmpty}), &line))
}
