package foreign

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// growing is a history that grows between imports.
type growing struct {
	t    *testing.T
	p    *projects.Projects
	st   *sessionstore.Store
	path string
}

func newGrowing(t *testing.T) *growing {
	t.Helper()
	g := &growing{t: t, p: openProjects(t), path: filepath.Join(t.TempDir(), "g.jsonl")}
	st, err := g.p.Store("-w")
	require.NoError(t, err)
	g.st = st
	return g
}

func (g *growing) write(text string) {
	g.t.Helper()
	require.NoError(g.t, os.WriteFile(g.path, []byte(text), 0o600))
}

func (g *growing) run(o *Options) []Imported {
	g.t.Helper()
	report, err := Import(g.t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, o)
	require.NoError(g.t, err)
	return report.Sessions
}

func (g *growing) say(id string, said ...string) {
	g.t.Helper()
	for i, s := range said {
		m, err := sessionstore.Text([]string{"user", "assistant"}[i%2], s, time.Unix(1, 0))
		require.NoError(g.t, err)
		require.NoError(g.t, g.st.Append(g.t.Context(), id, m))
	}
}

func (g *growing) sessions() int {
	g.t.Helper()
	infos, err := g.st.List(g.t.Context(), nil)
	require.NoError(g.t, err)
	return len(infos)
}

// TestAgain imports a history that grew into a session that is as it was.
func TestAgain(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	id := idOf(Claude, "g")
	g.write(many("g", 2))
	require.Equal(t, []Imported{{id, Conversation, Created, 4}}, g.run(nil))
	g.write(many("g", 3))
	require.Equal(t, []Imported{{id, Conversation, Updated, 6}}, g.run(&Options{DryRun: true}))
	require.Len(t, healthy(t, g.st, id), 4)
	require.Equal(t, []Imported{{id, Conversation, Updated, 6}}, g.run(nil))
	require.Len(t, healthy(t, g.st, id), 6)
	md, err := g.st.Metadata(t.Context(), id)
	require.NoError(t, err)
	turns, _ := md.Int("turn_count")
	require.Equal(t, 3, turns)
	require.Equal(t, many("g", 3), unpacked(t, g.st, id))
	before := tree(t, g.p.Dir())
	require.Equal(t, []Imported{{id, Conversation, Unchanged, 0}}, g.run(nil))
	require.Equal(t, before, tree(t, g.p.Dir()))

	// A line that is no message changes the files of the import alone.
	g.write(many("g", 3) + `{"type":"mode","mode":"normal"}` + "\n")
	require.Equal(t, Unchanged, g.run(nil)[0].Action)
	require.Equal(t, original(t, g.path), unpacked(t, g.st, id))
	require.Equal(t, before[filepath.Join("-w", "sessions", id, "transcript.jsonl")], original(t, filepath.Join(g.st.Dir(), id, "transcript.jsonl")))
	before = tree(t, g.p.Dir())
	require.Equal(t, Unchanged, g.run(nil)[0].Action)
	require.Equal(t, before, tree(t, g.p.Dir()))
}

// TestUnfinishedTurn brings an answer to calls that had none yet.
func TestUnfinishedTurn(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	call := `{"type":"user","uuid":"1","cwd":"/w","message":{"content":"run"}}` + "\n" +
		`{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","content":[{"type":"tool_use","id":"c","name":"Bash","input":{}}]}}` + "\n"
	g.write(call)
	id := g.run(nil)[0].ID
	require.Len(t, healthy(t, g.st, id), 4)
	g.write(call + `{"type":"user","uuid":"3","parentUuid":"2","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"fine"}]}}` + "\n" +
		`{"type":"assistant","uuid":"4","parentUuid":"3","message":{"id":"n","content":[{"type":"text","text":"It ran."}]}}` + "\n")
	require.Equal(t, []Imported{{id, Conversation, Updated, 4}}, g.run(nil))
	rows := healthy(t, g.st, id)
	require.Equal(t, "fine", rows[2].Content())
	require.Equal(t, "It ran.", rows[3].Content())
}

// TestOursWentOn continues a session here. What the tool has stays out until it
// went on, too, and becomes one fork then.
func TestOursWentOn(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(many("g", 2))
	id := g.run(nil)[0].ID
	g.say(id, "ours", "answer")
	require.Equal(t, []Imported{{id, Conversation, Unchanged, 0}}, g.run(nil))
	g.write(many("g", 2) + "\n")
	require.Equal(t, []Imported{{id, Conversation, Unchanged, 4}}, g.run(nil))
	require.Equal(t, 1, g.sessions())

	g.write(many("g", 3))
	made := g.run(nil)
	require.Len(t, made, 1)
	fork := made[0].ID
	require.NotEqual(t, id, fork)
	require.Equal(t, Imported{fork, Diverged, Created, 6}, made[0])
	require.Len(t, healthy(t, g.st, fork), 6)
	require.Len(t, healthy(t, g.st, id), 6)
	md, err := g.st.Metadata(t.Context(), fork)
	require.NoError(t, err)
	require.Equal(t, id, md.Text("parent_id"))
	require.Contains(t, md.Text("name"), "went on")
	kind, parent := sessionstore.KindOf(fork, md)
	require.Equal(t, sessionstore.Root, kind)
	require.Equal(t, id, parent)

	before := tree(t, g.p.Dir())
	require.Equal(t, []Imported{{fork, Diverged, Unchanged, 0}}, g.run(nil))
	require.Equal(t, before, tree(t, g.p.Dir()))
	g.write(many("g", 4))
	require.Equal(t, []Imported{{fork, Diverged, Updated, 8}}, g.run(nil))
	require.Equal(t, 2, g.sessions())
	g.say(fork, "ours again", "answer")
	g.write(many("g", 5))
	require.Equal(t, Created, g.run(nil)[0].Action)
	require.Equal(t, 3, g.sessions())
}

// TestEditedSession has a session that was cut here: nothing comes back unless the
// tool went on.
func TestEditedSession(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(many("g", 2))
	id := g.run(nil)[0].ID
	s, err := g.st.Load(t.Context(), id)
	require.NoError(t, err)
	require.NoError(t, g.st.Save(t.Context(), id, s.Messages[:2], s.Metadata))
	g.write(many("g", 2) + "\n")
	require.Equal(t, Unchanged, g.run(nil)[0].Action)
	require.Len(t, healthy(t, g.st, id), 2)
	require.Equal(t, 1, g.sessions())
}

// TestSavedByOthers saves a session without its state of the import: it is known by
// its transcript.
func TestSavedByOthers(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(many("g", 2))
	id := g.run(nil)[0].ID
	_, err := g.st.UpdateMetadata(t.Context(), id, func(md *sessionstore.Metadata) error {
		md.Delete(importFolder)
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(g.st.Dir(), id, importFolder)))
	require.Equal(t, []Imported{{id, Conversation, Unchanged, 4}}, g.run(nil))
	require.Equal(t, many("g", 2), unpacked(t, g.st, id))
	g.write(many("g", 3))
	require.Equal(t, []Imported{{id, Conversation, Updated, 6}}, g.run(nil))
}

func TestErrors(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write("secret text\n{\"type\":\"summary\",\"summary\":\"secret\"}\n[1]\n" + strings.Repeat(`{"secret":`, 2000) + "\n")
	h := History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}
	report, err := Import(t.Context(), g.p, h, nil)
	require.ErrorIs(t, err, ErrEmpty)
	require.NotContains(t, err.Error(), "secret")
	require.Len(t, report.Damaged, 3)
	for i, line := range []int{1, 3, 4} {
		require.Equal(t, line, report.Damaged[i].Line)
		require.NotContains(t, report.Damaged[i].Err.Error(), "secret")
	}
	_, err = Import(t.Context(), g.p, History{Tool: "other"}, nil)
	require.ErrorIs(t, err, ErrTool)
	_, err = Find(t.Context(), "other", nil)
	require.ErrorIs(t, err, ErrTool)
	_, err = Import(t.Context(), g.p, History{Tool: Claude, Path: g.path + "x"}, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	g.write(many("g", 3))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Import(ctx, g.p, h, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, g.sessions())
}

// TestFind finds what the corpus has.
func TestFind(t *testing.T) {
	t.Parallel()
	all, err := Find(t.Context(), Claude, &FindOptions{Home: "testdata/claude"})
	require.NoError(t, err)
	require.Len(t, all, 7)
	agents := 0
	for _, h := range all {
		require.Equal(t, "-home-ana-site", h.Folder)
		if len(h.Agents) > 0 {
			agents++
			require.Len(t, h.Agents, 2)
			require.Equal(t, "/home/ana/site", h.Dir)
		}
	}
	require.Equal(t, 1, agents)
	none, err := Find(t.Context(), Claude, &FindOptions{Home: "testdata/claude", Since: time.Now().Add(time.Hour)})
	require.NoError(t, err)
	require.Empty(t, none)
	none, err = Find(t.Context(), Claude, &FindOptions{Home: t.TempDir()})
	require.NoError(t, err)
	require.Empty(t, none)
}

// TestDryRun writes nothing, not even a project.
func TestDryRun(t *testing.T) {
	t.Parallel()
	p := openProjects(t)
	for _, h := range corpus(t) {
		report, err := Import(t.Context(), p, h, &Options{DryRun: true})
		if err != nil {
			require.ErrorIs(t, err, ErrEmpty)
			continue
		}
		require.Equal(t, Created, report.Sessions[0].Action)
		require.NotZero(t, report.Sessions[0].Messages)
	}
	require.Empty(t, tree(t, p.Dir()))
}
