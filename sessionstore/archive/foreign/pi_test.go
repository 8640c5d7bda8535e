package foreign

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// piHome is a directory of pi whose sessions a test writes.
type piHome struct {
	t   *testing.T
	dir string
	p   *projects.Projects
}

func newPiHome(t *testing.T) *piHome {
	t.Helper()
	h := &piHome{t, t.TempDir(), openProjects(t)}
	require.NoError(t, os.MkdirAll(filepath.Join(h.dir, "sessions", "--w--"), 0o700))
	return h
}

func (h *piHome) path(id string) string {
	return filepath.Join(h.dir, "sessions", "--w--", "2026-11-01T10-00-00-000Z_"+id+".jsonl")
}

// put writes the session id: the header with further members, and entries.
func (h *piHome) put(id, more string, entries ...string) {
	h.t.Helper()
	head := fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-11-01T10:00:00.000Z","cwd":"/w"%s}`, id, more)
	require.NoError(h.t, os.WriteFile(h.path(id), []byte(strings.Join(append([]string{head}, entries...), "\n")+"\n"), 0o600))
}

// run imports the sessions, and returns the reports by their ids.
func (h *piHome) run() map[string]*Report {
	h.t.Helper()
	all, err := Find(h.t.Context(), Pi, &FindOptions{Home: h.dir})
	require.NoError(h.t, err)
	reports := map[string]*Report{}
	for _, one := range all {
		reports[one.ID], err = Import(h.t.Context(), h.p, one, nil)
		require.NoError(h.t, err)
	}
	return reports
}

func (h *piHome) store() *sessionstore.Store {
	h.t.Helper()
	st, err := h.p.Store("-w")
	require.NoError(h.t, err)
	return st
}

// said returns the texts of a session.
func (h *piHome) said(id string) (said []string) {
	h.t.Helper()
	for _, m := range healthy(h.t, h.store(), id) {
		said = append(said, m.Content())
	}
	return said
}

// piEntry returns a message of a role, with a text or with the content.
func piEntry(id, parent, role, content string) string {
	if !strings.HasPrefix(content, "[") {
		content = fmt.Sprintf("%q", content)
	}
	used := ""
	if role == "assistant" {
		used = `,"model":"m","usage":{"input":1,"output":2}`
		if !strings.HasPrefix(content, "[") {
			content = `[{"type":"text","text":` + content + "}]"
		}
	}
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-11-01T10:00:01.000Z","message":{"role":%q,"content":%s%s}}`, id, piID(parent), role, content, used)
}

func piID(id string) string {
	if id == "" {
		return "null"
	}
	return fmt.Sprintf("%q", id)
}

// piTurn returns a prompt and its answer, which follow an entry.
func piTurn(id, parent, text string) []string {
	return []string{piEntry(id+"u", parent, "user", text), piEntry(id+"a", id+"u", "assistant", "re "+text)}
}

func joined(all ...[]string) (entries []string) {
	for _, some := range all {
		entries = append(entries, some...)
	}
	return entries
}

// TestPiGrows imports a session that grows, is rewound, and goes on: each prompt and answer is in
// the session or its fork once, and what the tool deletes stays here.
func TestPiGrows(t *testing.T) {
	t.Parallel()
	h, id := newPiHome(t), idOf(Pi, "p1")
	first := joined(piTurn("1", "", "One"), piTurn("2", "1a", "Two"))
	h.put("p1", "", first...)
	require.Equal(t, []Imported{{id, Conversation, Created, 4}}, h.run()["p1"].Sessions)
	require.Equal(t, []Imported{{id, Conversation, Unchanged, 0}}, h.run()["p1"].Sessions)
	more := joined(first, piTurn("3", "2a", "Three"))
	h.put("p1", "", more...)
	require.Equal(t, []Imported{{id, Conversation, Updated, 6}}, h.run()["p1"].Sessions)
	h.put("p1", "", joined(more, piTurn("4", "1a", "Instead"))...)
	done := h.run()["p1"].Sessions
	require.Len(t, done, 2)
	require.Equal(t, Imported{id, Conversation, Updated, 4}, done[0])
	require.Equal(t, Branch, done[1].Kind)
	require.Equal(t, []string{"One", "re One", "Instead", "re Instead"}, h.said(id))
	require.Equal(t, []string{"One", "re One", "Two", "re Two", "Three", "re Three"}, h.said(done[1].ID))
	require.NoError(t, os.Remove(h.path("p1")))
	require.Empty(t, h.run())
	require.Equal(t, []string{"One", "re One", "Instead", "re Instead"}, h.said(id))
}

// TestPiEnds ends the conversation with the last entry, also where that is a note behind an earlier
// answer; and reads what a compaction kept nothing of.
func TestPiEnds(t *testing.T) {
	t.Parallel()
	h, id := newPiHome(t), idOf(Pi, "p1")
	h.put("p1", "", append(joined(piTurn("1", "", "One"), piTurn("2", "1a", "Two")), `{"type":"label","id":"l","parentId":"1a","timestamp":"2026-11-01T10:00:02.000Z","targetId":"1a","label":"x"}`)...)
	require.Len(t, h.run()["p1"].Sessions, 2)
	require.Equal(t, []string{"One", "re One"}, h.said(id))
	h.put("p2", "", joined(piTurn("1", "", "One"), []string{`{"type":"compaction","id":"k","parentId":"1a","timestamp":"2026-11-01T10:00:02.000Z","summary":"All","firstKeptEntryId":"k"}`}, piTurn("2", "k", "Two"))...)
	h.run()
	require.Equal(t, []string{"One", "re One", "Two", "re Two"}, h.said(idOf(Pi, "p2")))
	longer, err := Longer(h.store(), idOf(Pi, "p2"))
	require.NoError(t, err)
	require.True(t, longer)
}

// TestPiForks imports a fork: it has its origin as its parent, leaves it where the shared entries
// end, and its responses count once.
func TestPiForks(t *testing.T) {
	t.Parallel()
	h := newPiHome(t)
	first := joined(piTurn("1", "", "One"), piTurn("2", "1a", "Two"))
	h.put("p1", "", first...)
	h.put("p2", fmt.Sprintf(`,"parentSession":%q`, h.path("p1")), joined(first[:2], piTurn("3", "1a", "Else"))...)
	h.put("p3", `,"parentSession":"C:\\x\\2026_gone.jsonl"`, first...)
	h.run()
	md, err := h.store().Metadata(t.Context(), idOf(Pi, "p2"))
	require.NoError(t, err)
	require.Equal(t, idOf(Pi, "p1"), md.Text("parent_id"))
	turn, _ := md.Int("forked_from_turn")
	require.Equal(t, 1, turn)
	md, err = h.store().Metadata(t.Context(), idOf(Pi, "p3"))
	require.NoError(t, err)
	require.Equal(t, idOf(Pi, "gone"), md.Text("parent_id"))
	output := int64(0)
	for u, err := range Usage(t.Context(), h.p, projects.Query{}) {
		require.NoError(t, err)
		output += u.Output
	}
	require.Equal(t, int64(3*2), output)
}

// TestPiEntries imports each kind of entry: what pi sends becomes a message, what it does not stays
// beside, and an unknown kind or version is told.
func TestPiEntries(t *testing.T) {
	t.Parallel()
	h := newPiHome(t)
	entry := func(kind, id, parent, more string) string {
		return fmt.Sprintf(`{"type":%q,"id":%q,"parentId":%s,"timestamp":"2026-11-01T10:00:02.000Z",%s}`, kind, id, piID(parent), more)
	}
	picture := `{"type":"image","data":"aW1n","mimeType":"image/png"}`
	h.put("p1", "", joined([]string{
		piEntry("s", "", "system", "secret"),
		entry("custom_message", "c", "s", `"customType":"x","content":"Injected","display":true`),
		piEntry("1u", "c", "user", `[{"type":"text","text":"<file name=\"a.txt\">\nA\n</file>\nOne"},`+picture+`]`),
		piEntry("1a", "1u", "assistant", `[{"type":"thinking","thinking":"Hm"},{"type":"toolCall","id":"x1","name":"look","arguments":{"a":1}},{"type":"toolCall","id":"x2","name":"look","arguments":{}}]`),
		`{"type":"message","id":"1s","parentId":"1a","timestamp":"2026-11-01T10:00:03.000Z","message":{"role":"toolResult","toolCallId":"x2","toolName":"look","content":[` + picture + `],"isError":false,"usage":{"input":1,"output":4}}}`,
		`{"type":"message","id":"1r","parentId":"1s","timestamp":"2026-11-01T10:00:03.000Z","message":{"role":"toolResult","toolCallId":"x1","toolName":"look","content":[{"type":"text","text":"seen"}],"isError":true,"usage":{"input":1,"output":4}}}`,
		piEntry("1b", "1r", "assistant", "Done"),
		`{"type":"message","id":"b","parentId":"1b","timestamp":"2026-11-01T10:00:04.000Z","message":{"role":"bashExecution","command":"ls","output":"a\n","exitCode":2}}`,
		entry("session_info", "n", "b", `"name":" Named "`), entry("label", "l", "n", `"targetId":"1u","label":"x"`), entry("usage", "u", "l", `"model":"other","usage":{"input":5,"output":1}`),
		entry("context_edit", "e", "u", `"targetId":"1u","replacement":null`), entry("next_year", "y", "e", `"x":1`),
		entry("compaction", "k", "y", `"summary":"All","firstKeptEntryId":"1b"`),
	}, piTurn("2", "k", "Two"), []string{entry("branch_summary", "z", "2a", `"fromId":"y","summary":"Was elsewhere"`)}, piTurn("3", "z", "Three"))...)
	report := h.run()["p1"]
	require.Equal(t, map[string]int{"kind next_year": 1}, report.Unknown)
	id := idOf(Pi, "p1")
	rows := healthy(t, h.store(), id)
	var got []string
	for _, m := range rows {
		got = append(got, m.Role()+" "+m.Content())
	}
	require.Equal(t, []string{
		"user <system-reminder>\nInjected\n</system-reminder>", "user <file name=\"a.txt\">\nA\n</file>\nOne", "assistant ", "tool seen", "tool ", "assistant Done",
		"user <system-reminder>\nRan `ls`\n```\na\n\n```\n</system-reminder>", "user Two", "assistant re Two",
		"user <system-reminder>\nWas elsewhere\n</system-reminder>", "user Three", "assistant re Three",
	}, got)
	require.Equal(t, []string{"Hm"}, rows[2].Thinking())
	for _, n := range []int{1, 4} {
		content, _ := rows[n].Lookup("content")
		require.Contains(t, string(content), `{"type": "base64", "media_type": "image/png", "data": "aW1n"}`)
	}
	md, err := h.store().Metadata(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "Named", md.Text("name"))
	longer, err := Longer(h.store(), id)
	require.NoError(t, err)
	require.True(t, longer)
	spent := stateIn(md, importFolder).Spent
	require.Equal(t, int64(1), spent["other"].Output)
	require.Equal(t, int64(8+8), spent["m"].Output)
}

// TestPiSendsNot imports what a person kept from the model, and a compaction on a branch that was
// left: the first is no message, the other hides nothing.
func TestPiSendsNot(t *testing.T) {
	t.Parallel()
	h, id := newPiHome(t), idOf(Pi, "p1")
	h.put("p1", "", joined(piTurn("1", "", "One"), []string{
		`{"type":"message","id":"b","parentId":"1a","timestamp":"2026-11-01T10:00:04.000Z","message":{"role":"bashExecution","command":"pass show x","output":"secret","exitCode":0,"excludeFromContext":true}}`,
	}, piTurn("2", "b", "Two"), []string{
		`{"type":"compaction","id":"k","parentId":"2a","timestamp":"2026-11-01T10:00:05.000Z","summary":"All","firstKeptEntryId":"2u"}`,
	}, piTurn("3", "k", "Three"), piTurn("4", "2a", "Four"))...)
	h.run()
	require.Equal(t, []string{"One", "re One", "Two", "re Two", "Four", "re Four"}, h.said(id))
	longer, err := Longer(h.store(), id)
	require.NoError(t, err)
	require.False(t, longer)
}

// TestPiLinks finds sessions in a folder that a link leads to, and in a file, each once.
func TestPiLinks(t *testing.T) {
	t.Parallel()
	h, elsewhere := newPiHome(t), filepath.Join(t.TempDir(), "w")
	folder := filepath.Dir(h.path("p1"))
	h.put("p1", "", piTurn("1", "", "One")...)
	require.NoError(t, os.Rename(h.path("p1"), elsewhere+".jsonl"))
	h.put("p2", "", piTurn("1", "", "Two")...)
	require.NoError(t, os.Rename(folder, elsewhere))
	for link, to := range map[string]string{folder: elsewhere, folder + "again": elsewhere, filepath.Join(elsewhere, "1_p1.jsonl"): elsewhere + ".jsonl", filepath.Join(elsewhere, "loop"): h.dir} {
		require.NoError(t, os.Symlink(to, link))
	}
	reports := h.run()
	require.Len(t, reports, 2)
	for _, r := range reports {
		require.Empty(t, r.Shorter)
	}
}

// TestPiElsewhere finds a session in a directory that pi was told to keep it in, which has no folders, and one that
// an extension keeps below the folder of a project.
func TestPiElsewhere(t *testing.T) {
	t.Parallel()
	h := newPiHome(t)
	h.put("p1", "", piTurn("1", "", "One")...)
	require.NoError(t, os.Rename(h.path("p1"), filepath.Join(h.dir, "sessions", filepath.Base(h.path("p1")))))
	require.Equal(t, Created, h.run()["p1"].Sessions[0].Action)
	h.put("p2", "", piTurn("1", "", "Two")...)
	below := filepath.Join(filepath.Dir(h.path("p2")), "p1", "run-0")
	require.NoError(t, os.MkdirAll(below, 0o700))
	require.NoError(t, os.Rename(h.path("p2"), filepath.Join(below, filepath.Base(h.path("p2")))))
	require.Contains(t, h.run(), "p2")
}

// TestPiChosenIDs exports sessions whose ids a person chose: the export has that id, by which pi
// finds it. An id that names no file is replaced.
func TestPiChosenIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"my.session", "ABCDEF12", "-x"} {
		h := newPiHome(t)
		h.put(id, "", piTurn("1", "", "One")...)
		session := h.run()[id].Sessions[0].ID
		done, err := Export(t.Context(), h.store(), session, Pi, io.Discard, nil)
		require.NoError(t, err)
		require.Equal(t, id != "-x", done.ID == id)
		require.Contains(t, done.File, "_"+done.ID)
	}
}

// TestPiNames takes the name of a session without one from what a person typed, without the files
// and skills that pi put before it. A name that a person took back gives none.
func TestPiNames(t *testing.T) {
	t.Parallel()
	h := newPiHome(t)
	h.put("p1", "", append(piTurn("1", "", "<skill name=\"s\" location=\"/x\">\nDo.\n</skill>\n<file name=\"/w/a.png\"></file>\nMend it"),
		`{"type":"session_info","id":"n","parentId":"1a","timestamp":"2026-11-01T10:00:02.000Z","name":""}`)...)
	h.run()
	md, err := h.store().Metadata(t.Context(), idOf(Pi, "p1"))
	require.NoError(t, err)
	require.Equal(t, "Mend it", md.Text("name"))
	require.Equal(t, "generated", md.Text("name_source"))
}

// TestPiNamesFollow renames a session in pi: the session follows, until it is renamed here.
func TestPiNamesFollow(t *testing.T) {
	t.Parallel()
	h, id := newPiHome(t), idOf(Pi, "p1")
	entries := piTurn("1", "", "One")
	rename := func(to string) string {
		n := len(entries)
		entries = append(entries, fmt.Sprintf(`{"type":"session_info","id":"n%d","parentId":"1a","timestamp":"2026-11-01T10:00:02.000Z","name":%q}`, n, to))
		h.put("p1", "", entries...)
		h.run()
		md, err := h.store().Metadata(t.Context(), id)
		require.NoError(t, err)
		return md.Text("name")
	}
	require.Equal(t, "First", rename("First"))
	require.Equal(t, "Second", rename("Second"))
	_, _, err := h.store().SetName(t.Context(), id, sessionstore.Naming{Name: "Here", Source: "manual"})
	require.NoError(t, err)
	require.Equal(t, "Here", rename("Third"))
}

// TestPiFirstVersion imports a file whose entries have no ids: each follows the one before.
func TestPiFirstVersion(t *testing.T) {
	t.Parallel()
	h := newPiHome(t)
	rows := strings.NewReplacer(`"id":"1u",`, "", `"id":"1a",`, "", `"id":"2u",`, "", `"id":"2a",`, "", `"parentId":null,`, "", `"parentId":"1u",`, "", `"parentId":"1a",`, "", `"parentId":"2u",`, "")
	h.put("p1", "", strings.Split(rows.Replace(strings.Join(joined(piTurn("1", "", "One"), piTurn("2", "1a", "Two")), "\n")), "\n")...)
	h.run()
	require.Equal(t, []string{"One", "re One", "Two", "re Two"}, h.said(idOf(Pi, "p1")))
}

// TestPiFirstVersionOpened imports a file of the first version again once pi opened it, or a copy of it:
// pi gives each entry an id, which differs each time. Nothing changes, until the session goes on.
func TestPiFirstVersionOpened(t *testing.T) {
	t.Parallel()
	h, id := newPiHome(t), idOf(Pi, "p1")
	entry := func(n int, role, ids string) string {
		return fmt.Sprintf(`{"type":"message","timestamp":"2026-11-01T10:00:0%d.000Z","message":{"role":%q,"content":"Go on"}%s}`, n, role, ids)
	}
	opened := func(with, n int) (entries []string) {
		before, role := "null", ""
		for i := range n {
			if role = "user"; i%2 > 0 {
				role = "assistant"
			}
			now := fmt.Sprintf(`"%08x"`, 100*with+i)
			entries = append(entries, entry(i, role, `,"id":`+now+`,"parentId":`+before))
			before = now
		}
		return entries
	}
	h.put("p1", "", entry(0, "user", ""), entry(1, "assistant", ""), entry(2, "user", ""), entry(3, "assistant", ""))
	require.Equal(t, []Imported{{id, Conversation, Created, 4}}, h.run()["p1"].Sessions)
	for _, c := range []struct {
		with, n int
		action  Action
	}{{1, 4, Unchanged}, {2, 4, Unchanged}, {2, 6, Updated}, {2, 6, Unchanged}, {3, 6, Unchanged}, {3, 8, Updated}} {
		h.put("p1", "", opened(c.with, c.n)...)
		done := h.run()["p1"].Sessions
		require.Len(t, done, 1)
		require.Equal(t, id, done[0].ID)
		require.Equal(t, c.action, done[0].Action)
		require.Len(t, h.said(id), max(4, c.n))
	}
}

// TestPiOpened opens a file of an earlier version in pi, which brings it to the newest one and adds no turn: the session keeps what pi has
// now, also where it went on here, and its export goes on in that. A file that pi changed otherwise leaves it as it was.
func TestPiOpened(t *testing.T) {
	t.Parallel()
	const head, damaged = `{"type":"session",%s"id":"p1","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/w"%s}`, "{\n"
	first := []string{
		`{"type":"message","timestamp":"2026-11-01T10:00:01.000Z","message":{"role":"user","content":"One"}`, `{"type":"message","timestamp":"2026-11-01T10:00:02.000Z","message":{"role":"assistant","content":"re One"}`,
		`{"type":"compaction","timestamp":"2026-11-01T10:00:03.000Z","summary":"All","tokensBefore":1`,
		`{"type":"message","timestamp":"2026-11-01T10:00:04.000Z","message":{"role":"user","content":"Two"}`, `{"type":"message","timestamp":"2026-11-01T10:00:05.000Z","message":{"role":"assistant","content":"re Two"}`,
	}
	one, three := fmt.Sprintf(head, "", ""), fmt.Sprintf(head, "", `,"version":3`)
	before := "null"
	for i, entry := range first {
		id := fmt.Sprintf(`"%08x"`, 100+i)
		one, three = one+"\n"+entry, three+"\n"+entry+`,"id":`+id+`,"parentId":`+before
		if i == 2 {
			one, three = one+`,"firstKeptEntryIndex":1`, three+`,"firstKeptEntryId":"00000065"`
		}
		one, three, before = one+"}", three+"}", id
	}
	hook := joined(piTurn("1", "", "One"), []string{piEntry("h", "1a", "hookMessage", "Hook")}, piTurn("2", "h", "Two"))
	two := strings.Join(append([]string{fmt.Sprintf(head, `"version":2,`, "")}, hook...), "\n")
	for name, c := range map[string]struct {
		was, now string
		here     bool
	}{
		"first":         {one + "\n", three + "\n", false},
		"first, and on": {one + "\n", three + "\n", true},
		"second":        {two + "\n", strings.NewReplacer(`"version":2`, `"version":3`, "hookMessage", "custom").Replace(two) + "\n", true},
		"damaged":       {damaged + one + "\n", three + "\n", false},
		"damaged, on":   {damaged + one + "\n", three + "\n", true},
	} {
		a := &away{t: t, p: openProjects(t), home: t.TempDir(), id: idOf(Pi, "p1"), tool: Pi}
		a.st, _ = a.p.Store("-w")
		a.path = filepath.Join(a.home, "sessions", "--w--", "2026-11-01T10-00-00-000Z_p1.jsonl")
		require.NoError(t, os.MkdirAll(filepath.Dir(a.path), 0o700))
		require.NoError(t, os.WriteFile(a.path, []byte(c.was), 0o600))
		require.Equal(t, Created, a.back()[0].Action)
		if c.here {
			a.say("Here")
		}
		rows := a.rows(a.id)
		require.NoError(t, os.WriteFile(a.path, []byte(c.now), 0o600))
		require.Equal(t, Unchanged, a.back()[0].Action, name)
		require.Equal(t, rows, a.rows(a.id), name)
		require.Equal(t, []string{a.id}, a.all(), name)
		require.Equal(t, !strings.HasPrefix(name, "damaged"), strings.HasPrefix(exported(t, a.st, a.id, Pi), c.now), name)
		if strings.HasPrefix(name, "damaged") {
			continue
		}
		a.say("More")
		a.export()
		a.goOn("On")
		require.Equal(t, Updated, a.back()[0].Action, name)
		require.Equal(t, []string{a.id}, a.all(), name)
	}
}

// TestPiOpenedExport opens an export in pi that goes on in a file of the first version: pi gives the entries of the export other ids, too.
// They are known as the session's, whether an import saw them before or not, and so is what follows.
func TestPiOpenedExport(t *testing.T) {
	t.Parallel()
	for _, seen := range []bool{true, false} {
		a := &away{t: t, p: openProjects(t), home: t.TempDir(), id: idOf(Pi, "p1"), tool: Pi}
		a.st, _ = a.p.Store("-w")
		a.path = filepath.Join(a.home, "sessions", "--w--", "2026-11-01T10-00-00-000Z_p1.jsonl")
		write := func(rows ...string) {
			require.NoError(t, os.MkdirAll(filepath.Dir(a.path), 0o700))
			require.NoError(t, os.WriteFile(a.path, []byte(strings.Join(rows, "\n")+"\n"), 0o600))
		}
		write(`{"type":"session","id":"p1","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/w"}`,
			`{"type":"message","timestamp":"2026-11-01T10:00:01.000Z","message":{"role":"user","content":"One"}}`,
			`{"type":"message","timestamp":"2026-11-01T10:00:02.000Z","message":{"role":"assistant","content":"re One"}}`)
		require.Equal(t, Created, a.back()[0].Action)
		for _, raw := range []string{
			`{"role":"user","content":"Look twice."}`,
			`{"role":"assistant","content":"","tool_calls":[{"id":"c1","tool":"look","arguments":{}},{"id":"c2","tool":"look","arguments":{}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"A"},{"type":"tool_result","tool_use_id":"c2","content":"B"}]}`, // two entries
			`{"role":"assistant","content":"Fine."}`,
		} {
			m, err := sessionstore.ParseMessage([]byte(raw))
			require.NoError(t, err)
			require.NoError(t, a.st.Append(t.Context(), a.id, m))
		}
		a.say("Here")
		_, _, err := a.st.SetName(t.Context(), a.id, sessionstore.Naming{Name: "Named", Source: "manual"})
		require.NoError(t, err)
		rows := strings.Split(strings.TrimSuffix(exported(t, a.st, a.id, Pi), "\n"), "\n")
		if write(rows...); seen {
			require.Equal(t, Unchanged, a.back()[0].Action)
		}
		var before any
		for i, row := range rows {
			var entry map[string]any
			require.NoError(t, json.Unmarshal([]byte(row), &entry))
			if i == 0 {
				entry["version"] = 3
			} else {
				id := fmt.Sprintf("%08x", 100+i)
				entry["id"], entry["parentId"], before = id, before, id
			}
			raw, err := json.Marshal(entry)
			require.NoError(t, err)
			rows[i] = string(raw)
		}
		write(rows...)
		require.Equal(t, Unchanged, a.back()[0].Action)
		require.Equal(t, strings.Join(rows, "\n")+"\n", exported(t, a.st, a.id, Pi))
		a.goOn("On")
		require.Equal(t, Updated, a.back()[0].Action)
		require.Equal(t, both("Here", "On"), a.said(a.id, 6))
		require.Equal(t, []string{a.id}, a.all())
	}
}

// TestPiSecondVersion goes on in a file whose entries pi brought to the newest version.
func TestPiSecondVersion(t *testing.T) {
	t.Parallel()
	h, id := newPiHome(t), idOf(Pi, "p1")
	entries := func(role string) []string { return append(piTurn("1", "", "One"), piEntry("h", "1a", role, "Hook")) }
	h.put("p1", "", entries("hookMessage")...)
	h.run()
	h.put("p1", "", joined(entries("custom"), piTurn("2", "h", "Two"))...)
	require.Equal(t, []Imported{{id, Conversation, Updated, 5}}, h.run()["p1"].Sessions)
}

// TestPiDamaged imports damaged and hostile files: what can be read is there, the rest is told, and
// nothing hangs.
func TestPiDamaged(t *testing.T) {
	t.Parallel()
	one := piTurn("1", "", "One")
	for name, c := range map[string]struct {
		entries []string
		damaged int
		said    []string
	}{
		"a torn end":      {append(piTurn("1", "", "One"), `{"type":"message","id":"2u","par`), 1, []string{"One", "re One"}},
		"bytes of zero":   {[]string{one[0], strings.Repeat("\x00", 4096), one[1]}, 1, []string{"One", "re One"}},
		"no object":       {joined([]string{`[1,2]`, `"x"`}, one), 2, []string{"One", "re One"}},
		"a lost parent":   {joined(one, piTurn("2", "gone", "Two")), 0, []string{"One", "re One", "Two", "re Two"}},
		"its own parent":  {joined(one, piTurn("2", "2u", "Two")), 0, nil},
		"a circle":        {[]string{piEntry("1u", "1a", "user", "One"), piEntry("1a", "1u", "assistant", "re One")}, 0, nil},
		"an id twice":     {joined(one, piTurn("1", "", "Two")), 0, []string{"Two", "re Two"}},
		"a deep value":    {joined(one, []string{piEntry("d", "1a", "user", strings.Repeat("[", 100000))}), 1, []string{"One", "re One"}},
		"odd members":     {joined([]string{`{"type":"message","id":5,"parentId":{},"message":[]}`, `{"type":"message","id":"m","message":null}`}, one), 0, []string{"One", "re One"}},
		"a text alone":    {append(piTurn("1", "", "One"), `{"type":"message","id":"2u","parentId":"1a","message":{"role":"user","content":"Two"}}`, `{"type":"message","id":"2a","parentId":"2u","message":{"role":"assistant","content":"re Two"}}`), 0, []string{"One", "re One", "Two", "re Two"}},
		"a later version": {joined([]string{`{"type":"session","version":4,"id":"p1"}`}, one), 0, []string{"One", "re One"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newPiHome(t)
			h.put("p1", "", c.entries...)
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			all, err := Find(ctx, Pi, &FindOptions{Home: h.dir})
			require.NoError(t, err)
			report, err := Import(ctx, h.p, all[0], nil)
			if c.said == nil && err != nil {
				require.ErrorIs(t, err, ErrEmpty)
				require.NotEmpty(t, report.Unplaced)
				return
			}
			require.NoError(t, err)
			require.Len(t, report.Damaged, c.damaged)
			require.Equal(t, name == "a later version", report.Unknown["version 4"] == 1)
			if c.said != nil {
				require.Equal(t, c.said, h.said(report.Sessions[0].ID))
			}
		})
	}
}

// TestPiOneID gives all entries one id: each prompt is in a session or named in the report.
func TestPiOneID(t *testing.T) {
	t.Parallel()
	for _, parent := range []string{"", "x"} {
		h := newPiHome(t)
		var entries []string
		for _, text := range []string{"One", "Two", "Two", "Three"} {
			entries = append(entries, piEntry("x", parent, "user", text), piEntry("x", parent, "assistant", "re "+text))
		}
		h.put("p1", "", entries...)
		all, err := Find(t.Context(), Pi, &FindOptions{Home: h.dir})
		require.NoError(t, err)
		report, err := Import(t.Context(), h.p, all[0], nil)
		if err != nil {
			require.ErrorIs(t, err, ErrEmpty)
		}
		var lines []int
		for _, e := range report.Unplaced {
			lines = append(lines, e.Line)
			require.ErrorContains(t, e.Err, "its id")
		}
		require.Equal(t, []int{2, 4, 6, 8}, lines, "%q", parent)
	}
}

// TestPiTwice takes the longer of two files with one id, and names the other.
func TestPiTwice(t *testing.T) {
	t.Parallel()
	h := newPiHome(t)
	h.put("p1", "", joined(piTurn("1", "", "One"), piTurn("2", "1a", "Two"))...)
	other := filepath.Join(h.dir, "sessions", "--v--")
	require.NoError(t, os.MkdirAll(other, 0o700))
	copied := strings.Join(strings.Split(original(t, h.path("p1")), "\n")[:3], "\n") + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(other, filepath.Base(h.path("p1"))), []byte(copied), 0o600))
	report := h.run()["p1"]
	require.Equal(t, []string{filepath.Join(other, filepath.Base(h.path("p1")))}, report.Shorter)
	require.Equal(t, 4, report.Sessions[0].Messages)
}

// TestPiGoesOnBehindNotes exports a session again once pi noted its model behind it: the new entries
// follow the last message, and those that pi wrote stay. Behind what pi said, none can follow.
func TestPiGoesOnBehindNotes(t *testing.T) {
	t.Parallel()
	for line, speaks := range map[string]bool{
		`{"type":"model_change","id":"a","parentId":"b","modelId":"m"}`: false, `{"type":"session_info","id":"a","name":"x"}`: false, piEntry("a", "b", "system", "x"): false,
		piEntry("a", "b", "user", "x"): true, piEntry("a", "b", "assistant", "x"): true, `{"type":"context_edit","id":"a","targetId":"b"}`: true, `{"type":"of next year","id":"a"}`: true, `{`: true,
	} {
		require.Equal(t, speaks, Pi.Speaks([]byte(line)), line)
	}
	a := newAway(t, openProjects(t), nativeID, Pi, native...)
	a.export()
	note := `{"type":"model_change","id":"0000000n","parentId":"` + a.leaf() + `","timestamp":"2026-11-25T00:00:00.000Z","provider":"p","modelId":"m"}` + "\n"
	a.add(note)
	require.Equal(t, Unchanged, a.back()[0].Action)
	was := original(t, a.path)
	a.say("Ours")
	a.export()
	ours := original(t, a.path)
	require.NoError(t, os.WriteFile(a.path, []byte(was+strings.TrimPrefix(ours, strings.TrimSuffix(was, note))), 0o600))
	require.Equal(t, Unchanged, a.back()[0].Action)
	a.goOn("Theirs")
	require.Equal(t, Updated, a.back()[0].Action)
	require.Equal(t, both("Ours", "Theirs"), a.said(a.id, len(native)))
	require.Equal(t, []string{a.id}, a.all())
}
