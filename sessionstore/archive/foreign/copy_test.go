package foreign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGoesOnAsCopy has a session that its tool sent to the background: it goes on in a
// copy with another id, also in another folder. The copy is a fork of it, and it names
// the copy.
func TestGoesOnAsCopy(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write := func(folder, id, text string) {
		dir := filepath.Join(home, "projects", folder)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(text), 0o600))
	}
	lines := strings.SplitAfter(many("g", 3), "\n")
	goesOn := func(from, to string) string {
		return `{"type":"continued-in","sessionId":"` + from + `","continuedInSessionId":"` + to + `"}` + "\n"
	}
	state := `{"type":"cost-state","sessionId":"a","totalCostUSD":1}` + "\n"
	write("-w", "a", strings.Join(lines[:4], "")+goesOn("a", "b")+state)
	write("-w2", "b", strings.Join(lines, "")+goesOn("b", "c"))
	write("-w2", "c", strings.Join(lines, "")+goesOn("c", "c")+goesOn("c", "b")) // which leads back
	all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
	require.NoError(t, err)
	require.Len(t, all, 3)
	p := openProjects(t)
	id := func(of string) string { return idOf(Claude, of) }
	parents, turns, next := map[string]string{}, map[string]int{}, map[string][]string{}
	for _, h := range all {
		ctx, counted := counting(t)
		report, err := Import(ctx, p, h, nil)
		require.NoError(t, err)
		require.Empty(t, report.Unknown)
		st, err := p.Store(report.Project)
		require.NoError(t, err)
		md, err := st.Metadata(t.Context(), id(h.ID))
		require.NoError(t, err)
		turn, _ := md.Int("forked_from_turn")
		parents[h.ID], turns[h.ID], next[h.ID] = md.Text("parent_id"), turn, stateIn(md, importFolder).ContinuedIn
		s, err := st.Summary(t.Context(), id(h.ID))
		require.NoError(t, err)
		require.Equal(t, h.ID != "a", s.Fork)
		if h.ID != "a" {
			require.Equal(t, id(map[string]string{"b": "a", "c": "b"}[h.ID]), *(*counted)[0].Parent)
		}
	}
	require.Equal(t, map[string]string{"a": "", "b": id("a"), "c": id("b")}, parents)
	require.Equal(t, map[string]int{"a": 0, "b": 2, "c": 3}, turns)
	require.Equal(t, map[string][]string{"a": {id("b")}, "b": {id("c")}, "c": {id("c"), id("b")}}, next)
}

// TestKnownKinds has records that newer versions of Claude Code write beside the
// conversation: none is told as unknown, whatever members it has.
func TestKnownKinds(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	rows := many("g", 1)
	for _, kind := range []string{
		"file-history-delta", "fork-context-ref", "agent-setting", "continued-in", "launched", "failed", "agent-color", "dev-mods",
		"api-request", "api-request-blob", "api-request-shape", "atis-latch", "cost-state",
	} {
		rows += `{"type":"` + kind + `","new member":{"a":1},"shape":[]}` + "\n"
	}
	for i, kind := range []string{"agents_killed", "scheduled_task_fire", "model_refusal_no_fallback"} {
		rows += `{"type":"system","subtype":"` + kind + `","uuid":"s` + string(rune('0'+i)) + `","parentUuid":"g-assistant-0","new member":1}` + "\n"
	}
	for i, kind := range []string{"environment", "model", "session_context", "date", "remote_session_change", "prompt_snapshot"} {
		rows += `{"type":"attachment","attachment":{"type":"` + kind + `"},"uuid":"t` + string(rune('0'+i)) + `","parentUuid":"g-assistant-0","rendered":[]}` + "\n"
	}
	g.write(rows)
	ctx, counted := counting(t)
	report, err := Import(ctx, g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
	require.NoError(t, err)
	require.Empty(t, report.Unknown)
	require.Empty(t, (*counted)[0].UnknownKinds)
	require.Equal(t, map[string]int{"not part of the conversation": 22}, report.Left)
	require.Len(t, report.Sessions, 1)

	g.write(rows + `{"type":"user","uuid":"u","parentUuid":"g-assistant-0","new":1,"message":{"content":"x"}}` + "\n" + `{"type":"new","member":1}` + "\n")
	report, err = Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"kind new": 1, "member member": 1, "member new": 1}, report.Unknown)
}

// TestMembersOfClaude imports lines with members that Claude Code 2.1.332 writes beside a
// call: the report does not name them.
func TestMembersOfClaude(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(strings.NewReplacer(`"type":"user",`, `"type":"user","permissionDecision":{},"queueSkipAttachments":true,`, `"type":"assistant",`, `"type":"assistant","toolInputStreamMs":1,`).Replace(many("g", 1)))
	report, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
	require.NoError(t, err)
	require.Empty(t, report.Unknown)
}
