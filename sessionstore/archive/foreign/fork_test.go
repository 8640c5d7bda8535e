package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

func (f *resumed) compaction(uuid, hidden string, sec int) *resumed {
	return f.linked("system", uuid, "", sec, map[string]any{"subtype": "compact_boundary", "logicalParentUuid": hidden})
}

// copied returns the rows of a file as the tool copies them into a fork: the answers name the
// session from, unless they name one already.
func (f *resumed) copied(from string) *resumed {
	g := new(resumed)
	for _, r := range f.rows {
		if strings.Contains(r, `"role":"assistant"`) && !strings.Contains(r, "requestSessionId") {
			r = strings.TrimSuffix(r, "}") + `,"requestSessionId":"` + from + `"}`
		}
		g.rows = append(g.rows, r)
	}
	return g
}

// TestForkOfTheTool has files of which one is a fork of another one, as Claude Code 2.1.332
// writes it with --fork-session: the same records, of which the answers name the origin.
func TestForkOfTheTool(t *testing.T) {
	t.Parallel()
	of := func() *resumed { return new(resumed) }
	old := of().turn("1", "", 0)
	for i, r := range old.rows {
		old.rows[i] = strings.TrimSuffix(r, "}") + `,"forkedFrom":{"sessionId":"a","messageUuid":"x"}}`
	}
	for _, c := range []struct {
		about string
		files map[string]*resumed
		want  map[string]string // parents, and the turn
	}{
		{
			"the origin has nothing else",
			map[string]*resumed{"a": of().turn("1", "", 0).at("1a"), "b": of().turn("1", "", 0).copied("a").turn("2", "1a", 60)},
			map[string]string{"a": " 0", "b": "a 1"},
		},
		{
			"the origin went on",
			map[string]*resumed{"a": of().turn("1", "", 0).turn("3", "1a", 90), "b": of().turn("1", "", 0).copied("a").turn("2", "1a", 60)},
			map[string]string{"a": " 0", "b": "a 1"},
		},
		{
			"the fork has nothing else",
			map[string]*resumed{"a": of().turn("1", "", 0).copied("b"), "b": of().turn("1", "", 0).turn("2", "1a", 60)},
			map[string]string{"a": "b 1", "b": " 0"},
		},
		{
			"each record names the origin, as older versions write it",
			map[string]*resumed{"a": of().turn("1", "", 0).turn("3", "1a", 90), "b": old.turn("2", "1a", 60)},
			map[string]string{"a": " 0", "b": "a 1"},
		},
		{
			"nothing names the origin",
			map[string]*resumed{"a": of().turn("1", "", 0).turn("3", "1a", 90), "b": of().turn("1", "", 0).turn("2", "1a", 60)},
			map[string]string{"a": " 0", "b": " 0"},
		},
		{
			"a session names itself",
			map[string]*resumed{"a": of().turn("1", "", 0).copied("a"), "b": of().turn("2", "", 60)},
			map[string]string{"a": " 0", "b": " 0"},
		},
		{
			"a fork of a fork",
			map[string]*resumed{
				"a": of().turn("1", "", 0).turn("4", "1a", 90), "b": of().turn("1", "", 0).copied("a").turn("2", "1a", 60).turn("5", "2a", 100),
				"c": of().turn("1", "", 0).copied("a").turn("2", "1a", 60).copied("b").turn("3", "2a", 80),
			},
			map[string]string{"a": " 0", "b": "a 1", "c": "b 2"},
		},
		{
			"the fork begins with a compaction",
			map[string]*resumed{
				"a": of().turn("1", "", 0).compaction("c", "1a", 10).turn("2", "c", 20).turn("3", "2a", 90),
				"b": of().compaction("c", "1a", 10).answer("1a", "c", 1).turn("2", "1a", 20).copied("a").turn("4", "2a", 60),
			},
			map[string]string{"a": " 0", "b": "a 1"},
		},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			dir := filepath.Join(home, "projects", "-w")
			require.NoError(t, os.MkdirAll(dir, 0o700))
			for id, f := range c.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(strings.Join(f.rows, "\n")+"\n"), 0o600))
			}
			all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
			require.NoError(t, err)
			p := openProjects(t)
			for range 2 { // the second import reports the same
				got := map[string]string{}
				for _, h := range all {
					ctx, counted := counting(t)
					report, err := Import(ctx, p, h, nil)
					require.NoError(t, err)
					st, err := p.Store(report.Project)
					require.NoError(t, err)
					md, err := st.Metadata(t.Context(), h.SessionID())
					require.NoError(t, err)
					turn, _ := md.Int("forked_from_turn")
					parent := ""
					for id := range c.files {
						if idOf(Claude, id) == md.Text("parent_id") {
							parent = id
						}
					}
					got[h.ID] = fmt.Sprint(parent, " ", turn)
					require.Equal(t, parent == "", (*counted)[0].Parent == nil)
				}
				require.Equal(t, c.want, got)
			}
		})
	}
}

// TestAgentInOtherFolder has the file of a sub-agent in another folder than the file of its
// session: the session has it as a sub-session.
func TestAgentInOtherFolder(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write := func(name string, f *resumed) {
		path := filepath.Join(home, "projects", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(f.rows, "\n")+"\n"), 0o600))
	}
	side := map[string]any{"isSidechain": true, "sessionId": "s", "message": map[string]any{"role": "user", "content": "task"}}
	done := map[string]any{"isSidechain": true, "sessionId": "s", "message": map[string]any{"id": "m", "role": "assistant", "content": "done"}}
	write("-w/s.jsonl", new(resumed).turn("1", "", 0))
	write("-v/s/subagents/agent-x.jsonl", new(resumed).linked("user", "t", "", 1, side).linked("assistant", "d", "t", 2, done))
	all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
	require.NoError(t, err)
	require.Len(t, all, 1)
	p := openProjects(t)
	report, err := Import(t.Context(), p, all[0], nil)
	require.NoError(t, err)
	st, err := p.Store(report.Project)
	require.NoError(t, err)
	require.Len(t, report.Sessions, 2)
	require.Equal(t, []string{"task", "done"}, texts(t, st, report.Sessions[1].ID))
}

// TestForkCountsOnce has a fork with the responses of its origin: each counts once, by the
// ids of the response and of its request, or else by the record.
func TestForkCountsOnce(t *testing.T) {
	t.Parallel()
	spend := func(f *resumed, uuid, parent string, request any) *resumed {
		return f.linked("assistant", uuid, parent, 1, map[string]any{
			"requestId": request,
			"message":   map[string]any{"id": "m" + uuid, "role": "assistant", "model": "x", "content": uuid, "usage": map[string]any{"input_tokens": 1, "output_tokens": 10}},
		})
	}
	begun := func() *resumed {
		return spend(spend(new(resumed).prompt("q", "", 0), "a", "q", "r1").prompt("p", "a", 2), "b", "p", nil)
	}
	home := t.TempDir()
	dir := filepath.Join(home, "projects", "-w")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for id, f := range map[string]*resumed{"a": begun(), "b": spend(begun().prompt("s", "b", 60), "c", "s", "r2")} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(strings.Join(f.rows, "\n")+"\n"), 0o600))
	}
	all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
	require.NoError(t, err)
	p := openProjects(t)
	for _, h := range all {
		_, err := Import(t.Context(), p, h, nil)
		require.NoError(t, err)
	}
	responses, tokens := 0, int64(0)
	for u, err := range Usage(t.Context(), p, projects.Query{}) {
		require.NoError(t, err)
		responses, tokens = responses+u.Responses, tokens+u.Output
	}
	require.Equal(t, 3, responses)
	require.Equal(t, int64(30), tokens)
}
