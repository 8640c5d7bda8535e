package foreign

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// TestOpenCode imports what opencode wrote: a session with calls of which one fails, a picture, a
// compaction and a sub-agent, and a fork; the usage of each answer once.
func TestOpenCode(t *testing.T) {
	t.Parallel()
	h := newOpenCodeHome(t)
	h.load("testdata/opencode/rows.jsonl")
	found := h.found()
	require.Len(t, found, 2)
	top, fork := found[0], found[1]
	require.Len(t, top.Agents, 1)
	require.Equal(t, "Another made-up title", top.Title)
	h.p = openProjects(t)
	used := map[string]thread.Spending{}
	for _, one := range found {
		report, err := Import(t.Context(), h.p, one, nil)
		require.NoError(t, err)
		require.Empty(t, report.Unknown)
		require.Empty(t, report.Damaged)
		require.Empty(t, report.Blocks)
		st, err := h.p.Store(report.Project)
		require.NoError(t, err)
		for _, s := range report.Sessions {
			require.Equal(t, Created, s.Action)
			healthy(t, st, s.ID)
			md, err := st.Metadata(t.Context(), s.ID)
			require.NoError(t, err)
			for model, n := range stateIn(md, importFolder).Spent {
				u := used[model]
				u.Responses, u.Input, u.Output, u.CacheRead = u.Responses+n.Responses, u.Input+n.Input, u.Output+n.Output, u.CacheRead+n.CacheRead
				used[model] = u
			}
		}
		require.Equal(t, original(t, one.Path), unpacked(t, st, report.Sessions[0].ID))
	}
	st, err := h.p.Store(top.Project())
	require.NoError(t, err)
	md, err := st.Metadata(t.Context(), idOf(OpenCode, fork.ID))
	require.NoError(t, err)
	require.Equal(t, idOf(OpenCode, top.ID), md.Text("parent_id"))
	turn, _ := md.Int("forked_from_turn")
	require.Equal(t, 1, turn)
	md, err = st.Metadata(t.Context(), idOf(OpenCode, top.ID))
	require.NoError(t, err)
	require.Equal(t, "Another made-up title", md.Text("name"))
	md, err = st.Metadata(t.Context(), thread.SubID(string(OpenCode), "ses_ddcf24216ffebSchDyf03g4F7k", "general"))
	require.NoError(t, err)
	require.Equal(t, idOf(OpenCode, top.ID), md.Text("parent_id"))
}

// TestOpenCodeGrows imports a session that grows, is renamed and is deleted: each prompt and answer
// is there once, and a second import changes nothing and opens nothing.
func TestOpenCodeGrows(t *testing.T) {
	t.Parallel()
	h, id := newOpenCodeHome(t), idOf(OpenCode, "ses_a")
	h.session("ses_a", "", 1000)
	h.turn("ses_a", 1001, "One")
	h.session("ses_b", "", 2000)
	h.turn("ses_b", 2001, "Other")
	require.Equal(t, []Imported{{id, Conversation, Created, 2}}, h.run()["ses_a"].Sessions)
	require.Equal(t, []Imported{{id, Conversation, Unchanged, 0}}, h.run()["ses_a"].Sessions)
	h.turn("ses_a", 1011, "Two")
	reports := h.run()
	require.Equal(t, []Imported{{id, Conversation, Updated, 4}}, reports["ses_a"].Sessions)
	require.Equal(t, []Imported{{idOf(OpenCode, "ses_b"), Conversation, Unchanged, 0}}, reports["ses_b"].Sessions)
	h.exec("UPDATE session SET title = 'A title', time_updated = 3000 WHERE id = 'ses_a'")
	h.run()
	md, err := h.store().Metadata(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "A title", md.Text("name"))
	h.exec("DELETE FROM session; DELETE FROM message; DELETE FROM part")
	require.Empty(t, h.run())
	require.Equal(t, []string{"One", "re One", "Two", "re Two"}, h.said(id))
}

// TestOpenCodeUnfinished imports a session while opencode writes an answer, and again: what was
// said of it before makes no fork.
func TestOpenCodeUnfinished(t *testing.T) {
	t.Parallel()
	h, id := newOpenCodeHome(t), idOf(OpenCode, "ses_a")
	h.session("ses_a", "", 1000)
	h.turn("ses_a", 1001, "One")
	h.message("ses_a", "msg_a_2000", "user", 2000, textPart("Two"))
	h.message("ses_a", "msg_a_2001", "assistant", 2001, textPart("Half"), `{"type":"tool","tool":"bash","callID":"c","state":{"status":"running","input":{"command":"x"}}}`)
	h.exec(`UPDATE message SET data = '{"role":"assistant","time":{"created":2001}}' WHERE id = 'msg_a_2001'`)
	require.Equal(t, []Imported{{id, Conversation, Created, 6}}, h.run()["ses_a"].Sessions) // with the result and the answer that it has to have
	h.exec(`UPDATE part SET data = '{"type":"text","text":"Half, and whole"}' WHERE id = 'prt_a_200100';
		UPDATE part SET data = '{"type":"tool","tool":"bash","callID":"c","state":{"status":"error","input":{"command":"x"},"error":"It failed","time":{"start":1,"end":2}}}' WHERE id = 'prt_a_200101';
		UPDATE message SET data = '{"role":"assistant","time":{"created":2001,"completed":2002}}', time_updated = 2002 WHERE id = 'msg_a_2001'`)
	require.Len(t, h.run()["ses_a"].Sessions, 1)
	require.Equal(t, []string{"One", "re One", "Two", "Half, and whole", "It failed"}, h.said(id)[:5])
	h.message("ses_a", "msg_a_3000", "user", 3000, textPart("Killed"))
	h.message("ses_a", "msg_a_3001", "assistant", 3001, `{"type":"step-start"}`)
	h.turn("ses_a", 3011, "On")
	h.run()
	require.Equal(t, []string{"Killed\n\nOn", "re On"}, h.said(id)[6:])
}

// TestOpenCodeTakesBack imports a session whose last turn was taken back: the turn is a fork, also
// once opencode removed it, and the session goes on as opencode does, as often as that happens. The
// fork's lines stay in the session's file, its usage counts, and no export has it.
func TestOpenCodeTakesBack(t *testing.T) {
	t.Parallel()
	h, id := newOpenCodeHome(t), idOf(OpenCode, "ses_a")
	h.session("ses_a", "", 1000)
	h.turn("ses_a", 1001, "One")
	h.turn("ses_a", 1011, "Two")
	h.exec(`UPDATE session SET revert = '{"messageID":"msg_a_1011","snapshot":"x"}'`)
	made := h.run()["ses_a"].Sessions
	require.Len(t, made, 2)
	require.Equal(t, Imported{id, Conversation, Created, 2}, made[0])
	require.Equal(t, Branch, made[1].Kind)
	fork := []string{"One", "re One", "Two", "re Two"}
	require.Equal(t, fork, h.said(made[1].ID))
	h.exec(`UPDATE session SET revert = NULL; DELETE FROM message WHERE id > 'msg_a_1010'; DELETE FROM part WHERE message_id > 'msg_a_1010'`)
	h.turn("ses_a", 1021, "Instead")
	require.Equal(t, []Imported{{id, Conversation, Updated, 4}, {made[1].ID, Branch, Unchanged, 4}}, h.run()["ses_a"].Sessions)
	require.Equal(t, []string{"One", "re One", "Instead", "re Instead"}, h.said(id))
	require.Equal(t, fork, h.said(made[1].ID))
	require.Equal(t, Unchanged, h.run()["ses_a"].Sessions[0].Action)
	h.exec(`UPDATE session SET revert = '{"messageID":"msg_a_1021"}'`)
	again := h.run()["ses_a"].Sessions
	require.Equal(t, Imported{id, Conversation, Updated, 2}, again[0])
	require.Len(t, again, 3)
	h.exec(`UPDATE session SET revert = NULL; DELETE FROM message WHERE id > 'msg_a_1020'; DELETE FROM part WHERE message_id > 'msg_a_1020'`)
	h.turn("ses_a", 1031, "On")
	require.Equal(t, Imported{id, Conversation, Updated, 4}, h.run()["ses_a"].Sessions[0])
	require.Equal(t, Unchanged, h.run()["ses_a"].Sessions[0].Action)
	require.Equal(t, []string{"One", "re One", "On", "re On"}, h.said(id))
	require.Equal(t, []string{"One", "re One", "Instead", "re Instead"}, h.said(again[1].ID))
	require.Equal(t, fork, h.said(made[1].ID))
	require.Contains(t, unpacked(t, h.store(), id), `"text":"re Two"`)
	md, err := h.store().Metadata(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, 4, stateIn(md, importFolder).Spent["m"].Responses)
	var file bytes.Buffer
	_, err = Export(t.Context(), h.store(), id, OpenCode, &file, nil)
	require.NoError(t, err)
	require.Contains(t, file.String(), "re On")
	require.NotContains(t, file.String(), "Two")
	require.NotContains(t, file.String(), "Instead")
}

// TestOpenCodeUndoRedo imports a session after each undo and redo, also of several turns, before and
// after opencode removed a turn: the session is what opencode shows.
func TestOpenCodeUndoRedo(t *testing.T) {
	t.Parallel()
	h, id := newOpenCodeHome(t), idOf(OpenCode, "ses_a")
	h.session("ses_a", "", 1000)
	shows := func(revert string, prompts ...string) {
		t.Helper()
		h.exec("UPDATE session SET revert = CASE WHEN ?1 <> '' THEN json_object('messageID', ?1) END", revert)
		done := h.run()["ses_a"].Sessions
		require.Equal(t, id, done[0].ID)
		var want []string
		for _, p := range prompts {
			want = append(want, p, "re "+p)
		}
		require.Equal(t, want, h.said(id))
		for _, s := range h.run()["ses_a"].Sessions {
			require.Equal(t, Unchanged, s.Action)
		}
	}
	h.turn("ses_a", 1001, "One")
	h.turn("ses_a", 1011, "Two")
	shows("", "One", "Two")
	shows("msg_a_1011", "One")
	shows("", "One", "Two")
	h.turn("ses_a", 1021, "Three")
	shows("", "One", "Two", "Three")
	shows("msg_a_1021", "One", "Two")
	shows("msg_a_1011", "One")
	shows("msg_a_1021", "One", "Two")
	h.removeFrom("msg_a_1021")
	h.turn("ses_a", 1031, "Four")
	shows("", "One", "Two", "Four")
	shows("msg_a_1031", "One", "Two")
	h.turn("ses_a", 1041, "Five")
	shows("", "One", "Two", "Four", "Five")
	shows("msg_a_1031", "One", "Two")
	h.removeFrom("msg_a_1031")
	shows("", "One", "Two")
	md, err := h.store().Metadata(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, 5, stateIn(md, importFolder).Spent["m"].Responses)
}

// TestOpenCodeEqualResults goes on after a revert where a model gives its calls the same ids, which
// have the same results.
func TestOpenCodeEqualResults(t *testing.T) {
	t.Parallel()
	h, id := newOpenCodeHome(t), idOf(OpenCode, "ses_a")
	h.session("ses_a", "", 1000)
	for at, prompt := range map[int]string{1001: "One", 1011: "Two"} {
		h.called("ses_a", at, prompt)
	}
	h.run()
	h.removeFrom("msg_a_1011")
	h.called("ses_a", 1021, "Instead")
	done := h.run()["ses_a"].Sessions
	require.Equal(t, Imported{id, Conversation, Updated, 8}, done[0])
	require.Equal(t, []string{"One", "", "a", "re One", "Instead", "", "a", "re Instead"}, h.said(id))
	require.Len(t, done, 2)
	require.Equal(t, Branch, done[1].Kind)
}

// TestOpenCodeAfterRevert goes on as opencode does where no import saw the revert, and keeps a turn
// that opencode has otherwise than before beside it.
func TestOpenCodeAfterRevert(t *testing.T) {
	t.Parallel()
	h, id := newOpenCodeHome(t), idOf(OpenCode, "ses_a")
	h.session("ses_a", "", 1000)
	h.turn("ses_a", 1001, "One")
	h.turn("ses_a", 1011, "Two")
	h.run()
	h.exec(`DELETE FROM message WHERE id > 'msg_a_1010'; DELETE FROM part WHERE message_id > 'msg_a_1010'`)
	h.turn("ses_a", 1021, "Instead")
	all := h.run()["ses_a"].Sessions
	require.Len(t, all, 2)
	require.Equal(t, Imported{id, Conversation, Updated, 4}, all[0])
	require.Equal(t, Branch, all[1].Kind)
	require.Equal(t, []string{"One", "re One", "Two", "re Two"}, h.said(all[1].ID))
	require.Equal(t, []string{"One", "re One", "Instead", "re Instead"}, h.said(id))
	h.exec(`UPDATE part SET data = replace(data, 'One', 'Won')`)
	h.turn("ses_a", 1031, "On")
	apart := h.run()["ses_a"].Sessions[0]
	require.Equal(t, Diverged, apart.Kind)
	require.Equal(t, []string{"Won", "re Won", "Instead", "re Instead", "On", "re On"}, h.said(apart.ID))
	require.Equal(t, []string{"One", "re One", "Instead", "re Instead"}, h.said(id))
}

// TestOpenCodeUnknown asks for a session that the database does not have: the error names it.
func TestOpenCodeUnknown(t *testing.T) {
	t.Parallel()
	h := newOpenCodeHome(t)
	h.session("ses_a", "", 1000)
	h.turn("ses_a", 1001, "One")
	for _, id := range []string{"ses_none", "none"} {
		_, err := Import(t.Context(), h.p, History{Tool: OpenCode, ID: id, Path: filepath.Join(h.path(), id+".jsonl")}, nil)
		require.ErrorContains(t, err, "no session \""+id+"\"")
	}
}

// TestOpenCodeForks joins a copy to its origin, and nothing that only looks like one.
func TestOpenCodeForks(t *testing.T) {
	t.Parallel()
	h := newOpenCodeHome(t)
	for i, id := range []string{"ses_a", "ses_b", "ses_c"} { // the first prompt of all is the same, at the same time
		h.session(id, "", 1000+i)
		h.message(id, "msg_"+id[4:]+"_1", "user", 1001, textPart("One"))
		h.message(id, "msg_"+id[4:]+"_2", "assistant", 1002, textPart("re One "+id))
	}
	h.fork("ses_a", "ses_d")
	h.exec("UPDATE message SET data = replace(data, 'created', 'parentID\":\"msg_x\",\"created') WHERE session_id = 'ses_d'") // which names the copy
	h.message("ses_d", "msg_Fd_9", "user", 2000, textPart("Forked"))
	h.message("ses_d", "msg_Fe_9", "assistant", 2001, textPart("re Forked"))
	h.run()
	for id, parent := range map[string]string{"ses_a": "", "ses_b": "", "ses_c": "", "ses_d": idOf(OpenCode, "ses_a")} {
		md, err := h.store().Metadata(t.Context(), idOf(OpenCode, id))
		require.NoError(t, err)
		require.Equal(t, parent, md.Text("parent_id"), id)
		if spent := stateIn(md, importFolder).Spent["m"]; id == "ses_a" {
			require.Equal(t, thread.Spending{Responses: 1, Usage: thread.Usage{Input: 1, Output: 5, CacheRead: 4, CacheWrite: 5}}, *spent)
		}
	}
}

// TestOpenCodeParts imports each kind of part.
func TestOpenCodeParts(t *testing.T) {
	t.Parallel()
	h, id := newOpenCodeHome(t), idOf(OpenCode, "ses_a")
	h.session("ses_a", "", 1000)
	picture := `{"type":"file","mime":"image/png","url":"data:image/png;base64,` + pixel + `"}`
	h.message("ses_a", "msg_1", "user", 1001, textPart("Look"), picture, `{"type":"text","text":"Called the Read tool","synthetic":true}`, `{"type":"file","mime":"text/plain","url":"file:///w/a"}`, `{"type":"new"}`)
	h.message("ses_a", "msg_2", "assistant", 1002, `{"type":"step-start"}`, `{"type":"reasoning","text":"I think"}`, textPart("I look"),
		`{"type":"tool","tool":"read","callID":"c1","state":{"status":"completed","input":{"path":"a"},"output":"seen","attachments":[`+picture+`],"time":{"start":1,"end":2,"compacted":9}}}`,
		`{"type":"tool","tool":"bash","callID":"c2","state":{"status":"completed","input":{"command":"false"},"output":"failed","metadata":{"exit":1},"time":{"start":1,"end":2}}}`, `{"type":"step-finish"}`)
	h.message("ses_a", "msg_3", "user", 1003, `{"type":"compaction","auto":true}`)
	h.message("ses_a", "msg_4", "assistant", 1004, textPart("All that was"))
	h.exec(`UPDATE message SET data = '{"role":"assistant","summary":true,"finish":"stop","time":{"created":1004,"completed":1004}}' WHERE id = 'msg_4'`)
	h.turn("ses_a", 1011, "On")
	h.put("session_message", map[string]any{"id": "x", "session_id": "ses_a", "type": "x", "seq": 1, "time_created": 1, "time_updated": 1, "data": "{}"})
	h.exec("INSERT INTO migration VALUES ('20270101_next_year', 1)")
	report := h.run()["ses_a"]
	require.Equal(t, map[string]int{"kind session_message": 1, "migration 20270101_next_year": 1}, report.Unknown)
	require.Equal(t, map[string]int{"new": 1}, report.Blocks)
	all := healthy(t, h.store(), id)
	require.Equal(t, []string{"Look", reminded("Called the Read tool"), "I look", "seen", "failed", "[The imported history has no answer here.]", "On", "re On"}, h.said(id))
	require.Equal(t, []string{"I think"}, all[2].Thinking())
	require.Len(t, all[2].ToolCalls(), 2)
	require.Contains(t, string(all[0].AppendTo(nil)), pixel)
	require.Contains(t, string(all[3].AppendTo(nil)), pixel)
	require.NotContains(t, original(t, h.found()[0].Path), "compacted")
	longer, err := Longer(h.store(), id)
	require.NoError(t, err)
	require.True(t, longer)
}

// TestOpenCodeDamaged names rows that cannot be read, and imports the others.
func TestOpenCodeDamaged(t *testing.T) {
	t.Parallel()
	h, id := newOpenCodeHome(t), idOf(OpenCode, "ses_a")
	h.session("ses_a", "", 1000)
	h.turn("ses_a", 1001, "One")
	h.turn("ses_a", 1011, "Two")
	h.turn("ses_a", 1021, "Three")
	h.exec(`UPDATE message SET data = '{"role":' WHERE id = 'msg_a_1011'; UPDATE part SET data = 'x' WHERE id = 'prt_a_102100'; UPDATE message SET data = cast(x'ff00' AS text) WHERE id = 'msg_a_1012'`)
	report := h.run()["ses_a"]
	require.Len(t, report.Damaged, 2)
	require.Equal(t, map[string]int{"damaged": 1}, report.Blocks)
	require.Equal(t, []string{"One", "re One\n\nre Three"}, h.said(id))
}

// TestOpenCodeOlder names sessions of versions before 1.2, which are not read.
func TestOpenCodeOlder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "storage", "session"), 0o700))
	found, err := Find(t.Context(), OpenCode, &FindOptions{Home: dir})
	require.Empty(t, found)
	require.ErrorContains(t, err, "before 1.2")
	found, err = Find(t.Context(), OpenCode, &FindOptions{Home: filepath.Join(dir, "none")})
	require.NoError(t, err)
	require.Empty(t, found)
}

// TestOpenCodeHome is the directory that XDG_DATA_HOME names.
func TestOpenCodeHome(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "/data")
	home, err := Home(OpenCode)
	require.NoError(t, err)
	require.Equal(t, filepath.Join("/data", "opencode"), home)
	t.Setenv("XDG_DATA_HOME", "")
	home, err = Home(OpenCode)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(home, filepath.Join(".local", "share", "opencode")))
}

// TestOpenCodeContinues asks whether what opencode has can go on as an export does: not once
// either side has what the other one lacks.
func TestOpenCodeContinues(t *testing.T) {
	t.Parallel()
	a := newAway(t, openProjects(t), nativeID, OpenCode, native...)
	a.export()
	h := &openCodeHome{t, a.home, a.p}
	continues := func() bool {
		goesOn, err := Continues(t.Context(), a.st, a.id, h.found()[0], 0, nil)
		require.NoError(t, err)
		return goesOn
	}
	require.True(t, continues())
	a.say("Ours")
	require.True(t, continues())
	a.goOn("Theirs")
	require.False(t, continues())
	a.back()
	require.False(t, continues())
}

// TestOpenCodeBehindItsOwn goes on here, by rows without a time, behind a turn of opencode: there they
// have later times than that turn, for opencode orders messages of one time by their ids.
func TestOpenCodeBehindItsOwn(t *testing.T) {
	t.Parallel()
	a := newAway(t, openProjects(t), nativeID, OpenCode, native...)
	a.export()
	a.goOn("Two")
	a.back()
	for _, row := range []string{`{"role":"user","content":"Three"}`, `{"role":"assistant","content":"Four"}`} {
		m, err := sessionstore.ParseMessage([]byte(row))
		require.NoError(t, err)
		require.NoError(t, a.st.Append(t.Context(), a.id, m))
	}
	last := (&openCodeHome{t, a.home, a.p}).last(a.thread())
	var b bytes.Buffer
	_, err := exportLines(t, a.st, a.id, OpenCode, &b, nil)
	require.NoError(t, err)
	_, rest, found := strings.Cut(b.String(), "Two by the assistant")
	require.True(t, found)
	require.Contains(t, rest, "Four")
	require.NotContains(t, rest, fmt.Sprintf(`"time":%d`, last))
}

// TestOpenCodeForkUsage counts what a fork repeats with its origin, whose times it has.
func TestOpenCodeForkUsage(t *testing.T) {
	t.Parallel()
	h := newOpenCodeHome(t)
	for n := range 6 { // the order of their ids is any
		id := fmt.Sprintf("ses_a%d", n)
		h.session(id, "", 1000+n*60000)
		h.turn(id, 1000+n*60000, "One")
		h.fork(id, fmt.Sprintf("ses_f%d", n))
	}
	h.run()
	for u, err := range Usage(t.Context(), h.p, projects.Query{}) {
		require.NoError(t, err)
		md, err := h.store().Metadata(t.Context(), u.Session)
		require.NoError(t, err)
		require.Empty(t, md.Text("parent_id"))
	}
}
