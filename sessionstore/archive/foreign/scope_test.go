package foreign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// compaction is a history whose first turns were compacted.
func compaction(turns ...string) string {
	rows := []string{
		`{"type":"user","uuid":"1","parentUuid":null,"cwd":"/w","timestamp":"2026-03-04T10:00:01.000Z","message":{"content":"before"}}`,
		`{"type":"assistant","uuid":"2","parentUuid":"1","timestamp":"2026-03-04T10:00:02.000Z","message":{"id":"a","content":[{"type":"text","text":"answer"}]}}`,
		`{"type":"system","subtype":"compact_boundary","uuid":"3","parentUuid":null,"logicalParentUuid":"2","timestamp":"2026-03-04T10:00:03.000Z"}`,
		`{"type":"user","uuid":"4","parentUuid":"3","isCompactSummary":true,"timestamp":"2026-03-04T10:00:04.000Z","message":{"content":"the summary"}}`,
		`{"type":"user","uuid":"5","parentUuid":"4","timestamp":"2026-03-04T10:00:05.000Z","message":{"content":"after"}}`,
		`{"type":"assistant","uuid":"6","parentUuid":"5","timestamp":"2026-03-04T10:00:06.000Z","message":{"id":"b","content":[{"type":"text","text":"answer"}]}}`,
	}
	return strings.Join(append(rows, turns...), "\n") + "\n"
}

const laterTurn = `{"type":"user","uuid":"7","parentUuid":"6","timestamp":"2026-03-04T10:00:07.000Z","message":{"content":"later"}}
{"type":"assistant","uuid":"8","parentUuid":"7","timestamp":"2026-03-04T10:00:08.000Z","message":{"id":"c","content":[{"type":"text","text":"answer"}]}}`

func contents(rows []sessionstore.Message) (all []string) {
	for _, m := range rows {
		all = append(all, m.Content())
	}
	return all
}

// TestScopeStays imports a session again that an earlier version made of what the tool would
// resume alone: it goes on as it was.
func TestScopeStays(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(compaction())
	id := idOf(Claude, "g")
	require.NoError(t, os.CopyFS(g.st.Dir(), os.DirFS(filepath.Join("testdata", "earlier", "active"))))
	before := tree(t, g.p.Dir())
	made := g.run(nil)
	require.Len(t, made, 2, "what stood before is a fork")
	require.Equal(t, []Action{Unchanged, Unchanged}, []Action{made[0].Action, made[1].Action})
	require.Equal(t, before, tree(t, g.p.Dir()))
	active := []string{reminded("the summary"), "after", "answer"}
	require.Equal(t, active, contents(healthy(t, g.st, id)))
	g.write(compaction(laterTurn))
	require.Equal(t, Updated, g.run(nil)[0].Action)
	require.Equal(t, append(active, "later", "answer"), contents(healthy(t, g.st, id)))

	g = newGrowing(t)
	g.write(compaction())
	made = g.run(nil)
	require.Len(t, made, 1)
	g.write(compaction(laterTurn))
	g.run(nil)
	require.Equal(t, []string{"before", "answer", "after", "answer", "later", "answer"}, contents(healthy(t, g.st, id)))
}

// TestHiddenElsewhere has compactions whose beginning is not in the file: the summary
// stands in the session.
func TestHiddenElsewhere(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(strings.Join(strings.Split(compaction(), "\n")[2:], "\n"))
	require.Equal(t, []string{reminded("the summary"), "after", "answer"}, contents(healthy(t, g.st, g.run(nil)[0].ID)))
}

// TestLineBeginsOtherwise has a history that went on from an earlier prompt: what
// nobody changed is replaced, and what somebody changed stays beside a fork.
func TestLineBeginsOtherwise(t *testing.T) {
	t.Parallel()
	other := strings.NewReplacer(`"parentUuid":"6"`, `"parentUuid":"2"`).Replace(laterTurn)
	g := newGrowing(t)
	g.write(compaction())
	id := g.run(nil)[0].ID
	was := original(t, filepath.Join(g.st.Dir(), id, "transcript.jsonl"))
	g.write(compaction(other))
	made := g.run(nil)
	require.Equal(t, Imported{id, Conversation, Updated, 4}, made[0])
	require.Equal(t, []string{"before", "answer", "later", "answer"}, contents(healthy(t, g.st, id)))
	require.Equal(t, was, original(t, filepath.Join(g.st.Dir(), id, "transcript.jsonl.backup")))
	require.Len(t, made, 2)
	require.Equal(t, Branch, made[1].Kind)
	require.Contains(t, contents(healthy(t, g.st, made[1].ID)), "after")

	g = newGrowing(t)
	g.write(compaction())
	g.run(nil)
	g.say(id, "ours", "answer")
	ours := contents(healthy(t, g.st, id))
	g.write(compaction(other))
	require.Equal(t, Diverged, g.run(nil)[0].Kind)
	require.Equal(t, ours, contents(healthy(t, g.st, id)))
}

// TestUnplaced names prompts that are in no session.
func TestUnplaced(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(compaction(
		`{"type":"user","uuid":"x","parentUuid":"2","timestamp":"2026-03-04T10:00:01.000Z","message":{"content":"after"}}`,
		`{"type":"user","uuid":"y","parentUuid":"z","timestamp":"2026-03-04T10:00:01.000Z","message":{"content":"round"}}`,
		`{"type":"user","uuid":"z","parentUuid":"y","timestamp":"2026-03-04T10:00:01.000Z","message":{"content":"and round"}}`,
		`{"type":"system","uuid":"w","parentUuid":"6","timestamp":"2026-03-04T10:00:08.000Z"}`,
	))
	report, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
	require.NoError(t, err)
	require.Len(t, report.Sessions, 1)
	const circle = ": the prompt is on no branch: its lines follow each other in a circle"
	require.Equal(t, []string{"line 7: the prompt is on a branch where all prompts have the text of one in the conversation", "line 8" + circle, "line 9" + circle}, why(report.Unplaced))
}

// TestLonger tells that a session holds what a compaction hid from the tool.
func TestLonger(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(many("g", 2))
	_, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "short", Path: g.path, Dir: "/w"}, nil)
	require.NoError(t, err)
	longer, err := Longer(g.st, idOf(Claude, "short"))
	require.NoError(t, err)
	require.False(t, longer)

	g.write(compaction())
	id := g.run(nil)[0].ID
	longer, err = Longer(g.st, id)
	require.NoError(t, err)
	require.True(t, longer)
}

// TestHidden counts what stands before the last compaction.
func TestHidden(t *testing.T) {
	t.Parallel()
	again := strings.NewReplacer(`"uuid":"3"`, `"uuid":"9"`, `"uuid":"4"`, `"uuid":"10"`, `"logicalParentUuid":"2"`, `"logicalParentUuid":"8"`, `"parentUuid":"3"`, `"parentUuid":"9"`).
		Replace(strings.Join(strings.Split(compaction(), "\n")[2:4], "\n"))
	beside := strings.NewReplacer(`"7"`, `"11"`, `"8"`, `"12"`, `"parentUuid":"6"`, `"parentUuid":"2"`, "later", "elsewhere").Replace(laterTurn)
	for _, tt := range []struct {
		name, file string
		hidden     []int // of each session
	}{
		{"none", many("g", 2), []int{0}},
		{"one", compaction(laterTurn), []int{2}},
		{"two, and nothing after", compaction(laterTurn, again), []int{6}},
		{"on another line", compaction(laterTurn, beside), []int{0, 2}},
		{"nothing before it", strings.Join(strings.Split(compaction(), "\n")[2:], "\n"), []int{0}},
	} {
		g := newGrowing(t)
		g.write(tt.file)
		var hidden []int
		for _, made := range g.run(nil) {
			n, err := Hidden(t.Context(), g.st, made.ID)
			require.NoError(t, err)
			hidden = append(hidden, n)
		}
		require.Equal(t, tt.hidden, hidden, tt.name)
	}
	p, hidden := openProjects(t), []int{}
	for _, h := range codexCorpus(t) {
		if strings.HasPrefix(h.ID, "019cb8a0-0003") || strings.HasPrefix(h.ID, "019cb8a0-0004") { // in the forms of two versions
			report, err := Import(t.Context(), p, h, nil)
			require.NoError(t, err)
			st, err := p.Store(report.Project)
			require.NoError(t, err)
			n, err := Hidden(t.Context(), st, report.Sessions[0].ID)
			require.NoError(t, err)
			hidden = append(hidden, n)
		}
	}
	require.Equal(t, []int{8, 7}, hidden)
}
