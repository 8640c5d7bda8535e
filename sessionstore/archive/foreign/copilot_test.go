package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// copilotHome is a directory of the GitHub Copilot CLI whose sessions a test writes.
type copilotHome struct {
	t   *testing.T
	dir string
	p   *projects.Projects
}

func newCopilotHome(t *testing.T) *copilotHome {
	t.Helper()
	return &copilotHome{t, t.TempDir(), openProjects(t)}
}

func (h *copilotHome) path(id, file string) string {
	return filepath.Join(h.dir, "session-state", id, file)
}

// put writes the session id: its first event, and others.
func (h *copilotHome) put(id string, events ...string) {
	h.t.Helper()
	require.NoError(h.t, os.MkdirAll(filepath.Dir(h.path(id, "x")), 0o700))
	start := copilotEvent("s", "", "session.start", fmt.Sprintf(`{"sessionId":%q,"version":1,"context":{"cwd":"/w"}}`, id))
	require.NoError(h.t, os.WriteFile(h.path(id, "events.jsonl"), []byte(strings.Join(append([]string{start}, events...), "\n")+"\n"), 0o600))
}

// call gives the session id a name.
func (h *copilotHome) call(id, name string, byPerson bool) {
	h.t.Helper()
	text := fmt.Sprintf("id: %s\ncwd: /w\nname: %q\nuser_named: %t\n", id, name, byPerson)
	require.NoError(h.t, os.WriteFile(h.path(id, "workspace.yaml"), []byte(text), 0o600))
}

// run imports the sessions, and returns the reports by their ids.
func (h *copilotHome) run() map[string]*Report {
	h.t.Helper()
	all, err := Find(h.t.Context(), Copilot, &FindOptions{Home: h.dir})
	require.NoError(h.t, err)
	reports := map[string]*Report{}
	for _, one := range all {
		reports[one.ID], err = Import(h.t.Context(), h.p, one, nil)
		require.NoError(h.t, err)
	}
	return reports
}

func (h *copilotHome) store() *sessionstore.Store {
	h.t.Helper()
	st, err := h.p.Store("-w")
	require.NoError(h.t, err)
	return st
}

// said returns the roles and the texts of a session.
func (h *copilotHome) said(id string) (said []string) {
	h.t.Helper()
	for _, m := range healthy(h.t, h.store(), id) {
		said = append(said, m.Role()+" "+m.Content())
	}
	return said
}

func (h *copilotHome) metadata(id string) sessionstore.Metadata {
	h.t.Helper()
	md, err := h.store().Metadata(h.t.Context(), id)
	require.NoError(h.t, err)
	return md
}

// copilotEvent returns an event of a sub-agent, or with "" of the conversation.
func copilotEvent(id, agent, kind, data string) string {
	if agent != "" {
		agent = fmt.Sprintf(`,"agentId":%q`, agent)
	}
	return fmt.Sprintf(`{"type":%q,"data":%s,"id":%q,"timestamp":"2026-11-01T10:00:01.000Z","parentId":null%s}`, kind, data, id, agent)
}

// copilotTurn returns the events of a turn whose prompt has a source.
func copilotTurn(id, agent, source, text string) []string {
	return []string{
		copilotEvent(id+"u", agent, "user.message", fmt.Sprintf(`{"content":%q,"source":%q}`, text, source)),
		copilotEvent(id+"s", agent, "session.usage_record", `{"usage":{"model":"m","inputTokens":10,"outputTokens":2,"cacheReadTokens":3,"cacheWriteTokens":1}}`),
		copilotEvent(id+"a", agent, "assistant.message", fmt.Sprintf(`{"messageId":%q,"model":"m","content":"re %s"}`, id, text)),
	}
}

// TestCopilotGrows imports a session that grows, is rewound, which the tool does by taking lines out
// of the file, and goes on: the turns taken out stay here, and each turn in the file is here once.
func TestCopilotGrows(t *testing.T) {
	t.Parallel()
	h, id := newCopilotHome(t), idOf(Copilot, "c1")
	first := joined(copilotTurn("1", "", "", "One"), copilotTurn("2", "", "", "Two"))
	h.put("c1", first...)
	require.Equal(t, []Imported{{id, Conversation, Created, 4}}, h.run()["c1"].Sessions)
	require.Equal(t, []Imported{{id, Conversation, Unchanged, 0}}, h.run()["c1"].Sessions)
	h.put("c1", joined(first, copilotTurn("3", "", "", "Three"))...)
	require.Equal(t, []Imported{{id, Conversation, Updated, 6}}, h.run()["c1"].Sessions)
	h.put("c1", first[:3]...)
	require.Equal(t, Unchanged, h.run()["c1"].Sessions[0].Action)
	h.put("c1", joined(first[:3], copilotTurn("4", "", "", "Instead"))...)
	done := h.run()["c1"].Sessions
	require.Len(t, done, 1)
	require.Equal(t, Diverged, done[0].Kind)
	require.Equal(t, []string{"user One", "assistant re One", "user Two", "assistant re Two", "user Three", "assistant re Three"}, h.said(id))
	require.Equal(t, []string{"user One", "assistant re One", "user Instead", "assistant re Instead"}, h.said(done[0].ID))
	require.NoError(t, os.RemoveAll(filepath.Dir(h.path("c1", "x"))))
	require.Empty(t, h.run())
	require.Len(t, h.said(id), 6)
}

// TestCopilotEvents imports each kind of event: the texts that the tool sends become messages, results come
// in the order of their calls, and an unknown kind or version is reported.
func TestCopilotEvents(t *testing.T) {
	t.Parallel()
	h, id := newCopilotHome(t), idOf(Copilot, "c1")
	event := func(id, kind, data string) string { return copilotEvent(id, "", kind, data) }
	h.put("c1", joined([]string{
		event("k0", "session.binary_asset", `{"assetId":"sha256:1","type":"image","mimeType":"image/png","data":"aW1n"}`),
		event("1u", "user.message", `{"content":"One","transformedContent":"now One","attachments":[{"type":"file","assetId":"sha256:1","mimeType":"image/png"},{"type":"blob","data":"YmxvYg==","mimeType":"image/jpeg"},{"type":"file","path":"/w/a.txt"}]}`),
		event("y0", "system.message", `{"content":"secret"}`),
		event("1a", "assistant.message", `{"content":"","reasoningText":"Hm","toolRequests":[{"toolCallId":"x1","name":"look","arguments":{"a":1}},{"toolCallId":"x2","name":"look","arguments":"text"},{"toolCallId":"x3","name":"look"}]}`),
		event("r3", "tool.execution_complete", `{"toolCallId":"x3","success":false,"error":{"message":"failed"}}`),
		event("r2", "tool.execution_complete", `{"toolCallId":"x2","success":true,"result":{"content":"exit 3","binaryResultsForLlm":[{"type":"image","assetId":"sha256:1","mimeType":"image/png"},{"type":"image","omittedReason":"size"}]}}`),
		event("r1", "tool.execution_complete", `{"toolCallId":"x1","success":true,"result":{"content":"seen","detailedContent":"more"}}`),
		event("1b", "assistant.message", `{"content":"Done"}`),
		event("n0", "system.notification", `{"content":"Ended"}`),
		event("s1", "tool.user_requested", `{"toolCallId":"h1","toolName":"local_shell","arguments":{"command":"ls"}}`),
		event("s2", "tool.execution_complete", `{"toolCallId":"h1","isUserRequested":true,"success":true,"result":{"content":"a"}}`),
		event("k1", "user.message", `{"content":"Skill","source":"skill-x"}`),
		event("k2", "user.message", `{"content":"Go on","isAutopilotContinuation":true}`),
		event("k3", "session.handoff", `{"context":"From there"}`),
		event("v0", "session.start", `{"version":2}`), event("y1", "next.year", `{}`), event("f1", "session.compaction_complete", `{"success":false,"error":"x"}`),
		event("c0", "session.compaction_start", `{}`),
	}, copilotTurn("2", "", "", "Two"), []string{
		event("c1", "session.compaction_complete", `{"success":true,"summaryContent":"All","compactionTokensUsed":{"model":"m","inputTokens":5,"outputTokens":1}}`),
	}, copilotTurn("3", "", "", "Three"))...)
	report := h.run()["c1"]
	require.Equal(t, map[string]int{"kind next.year": 1, "version 2": 1}, report.Unknown)
	require.Equal(t, map[string]int{"file": 1, "result-image": 1}, report.Blocks)
	require.Equal(t, []string{
		"user One", "assistant ", "tool seen", "tool exit 3", "tool failed", "assistant Done",
		"user " + reminded("Ended"), "user " + reminded("Ran `ls`\n```\na\n```"), "user " + reminded("Skill"), "user " + reminded("Go on"), "user " + reminded("From there"),
		"user Two", "assistant re Two", "user Three", "assistant re Three",
	}, h.said(id))
	rows := healthy(t, h.store(), id)
	for n, data := range map[int][]string{0: {"aW1n", "YmxvYg=="}, 3: {"aW1n"}} {
		content, _ := rows[n].Lookup("content")
		require.Equal(t, len(data), strings.Count(string(content), "base64"))
		for _, picture := range data {
			require.Contains(t, string(content), picture)
		}
	}
	require.Equal(t, []string{"Hm"}, rows[1].Thinking())
	longer, err := Longer(h.store(), id)
	require.NoError(t, err)
	require.True(t, longer)
	spent := stateIn(h.metadata(id), importFolder).Spent["m"]
	require.Equal(t, int64(6+6+5), spent.Input)
	require.Equal(t, int64(2+2+1), spent.Output)
}

// TestCopilotCleared imports a conversation that a host cleared: the turns stay, as with a compaction.
func TestCopilotCleared(t *testing.T) {
	t.Parallel()
	h := newCopilotHome(t)
	h.put("c1", joined(copilotTurn("1", "", "", "One"), []string{copilotEvent("x", "", "session.context_cleared", `{"messagesCleared":2}`)}, copilotTurn("2", "", "", "Two"))...)
	h.run()
	require.Equal(t, []string{"user One", "assistant re One", "user Two", "assistant re Two"}, h.said(idOf(Copilot, "c1")))
}

// TestCopilotAgents imports sub-agents, also one of a sub-agent: each is a session with its task, its
// parent and the call that began it. With an odd name of a parent, the conversation is the parent.
func TestCopilotAgents(t *testing.T) {
	t.Parallel()
	h, id := newCopilotHome(t), idOf(Copilot, "c1")
	started := func(agent, parent, call, task string) string {
		return copilotEvent("b"+agent, agent, "subagent.started", fmt.Sprintf(`{"toolCallId":%q,"agentName":"explore","agentDescription":%q,"parentId":%q}`, call, task, parent))
	}
	turn := func(id, agent, text string) []string { return copilotTurn(id, agent, "agent-x", text) }
	one, two, three := turn("1", "A", "Task A"), turn("2", "B", "Task B"), turn("3", "C", "Task C")
	h.put("c1", joined(copilotTurn("0", "", "", "One"), []string{started("A", "", "x1", "Look at A")}, one[:1], []string{started("B", "A", "x2", "Look at B")}, two, one[1:],
		[]string{started("C", "C", "x3", ""), started("C", "A", "x4", "Again")}, three, turn("4", "D", "Task D"), copilotTurn("5", "", "", "Two"))...)
	report := h.run()["c1"]
	require.Len(t, report.Sessions, 5)
	require.Equal(t, []string{"user One", "assistant re One", "user Two", "assistant re Two"}, h.said(id))
	parents := []string{"", id, report.Sessions[1].ID, id, id}
	calls := []string{"", "x1", "x2", "x3", ""}
	names := []string{"", "Look at A", "Look at B", "explore", "agent"}
	for i, s := range report.Sessions[1:] {
		md := h.metadata(s.ID)
		require.Equal(t, Agent, s.Kind)
		require.Equal(t, parents[i+1], md.Text("parent_id"))
		require.Equal(t, calls[i+1], stateIn(md, importFolder).Call)
		require.Equal(t, names[i+1], md.Text("name"))
		text := "Task " + string("ABCD"[i])
		require.Equal(t, []string{"user " + text, "assistant re " + text}, h.said(s.ID))
	}
	output := int64(0)
	for u, err := range Usage(t.Context(), h.p, projects.Query{}) {
		require.NoError(t, err)
		output += u.Output
	}
	require.Equal(t, int64(6*2), output)
}

// TestCopilotShared imports a prompt that shows one large picture many times: as many are in the
// message as a line may have bytes, and the report counts the others.
func TestCopilotShared(t *testing.T) {
	t.Parallel()
	h := newCopilotHome(t)
	picture := `{"type":"file","assetId":"k","mimeType":"image/png"}`
	h.put("c1", copilotEvent("k", "", "session.binary_asset", fmt.Sprintf(`{"assetId":"k","mimeType":"image/png","data":%q}`, strings.Repeat("A", 20<<20))),
		copilotEvent("u", "", "user.message", `{"content":"One","attachments":[`+strings.Repeat(picture+",", 9)+picture+`]}`), copilotEvent("a", "", "assistant.message", `{"content":"re One"}`))
	report := h.run()["c1"]
	require.Equal(t, map[string]int{"file": 7}, report.Blocks)
	rows := original(t, filepath.Join(h.store().Dir(), report.Sessions[0].ID, "transcript.jsonl"))
	require.Equal(t, 3, strings.Count(rows, "base64"))
}

// TestCopilotTwins imports two sub-agents whose beginning is not told and whose events have the same
// ids: each is a session.
func TestCopilotTwins(t *testing.T) {
	t.Parallel()
	h := newCopilotHome(t)
	h.put("c1", joined(copilotTurn("0", "", "", "One"), copilotTurn("1", "A", "agent-x", "Task A"), copilotTurn("1", "B", "agent-x", "Task B"))...)
	report := h.run()["c1"]
	require.Len(t, report.Sessions, 3)
	require.Equal(t, []string{"user Task A", "assistant re Task A"}, h.said(report.Sessions[1].ID))
	require.Equal(t, []string{"user Task B", "assistant re Task B"}, h.said(report.Sessions[2].ID))
}

// TestCopilotForks imports a fork, which has the lines of its origin under their ids: its origin is
// its parent, and their responses count once.
func TestCopilotForks(t *testing.T) {
	t.Parallel()
	h := newCopilotHome(t)
	const one, two = "11111111-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000002"
	first := joined(copilotTurn("1", "", "", "One"), copilotTurn("2", "", "", "Two"))
	note := copilotEvent("n", "", "session.info", fmt.Sprintf(`{"infoType":"fork","message":"Forked from \"A\n(b)\" (%s) as \"x\" (%s)."}`, one, two))
	h.put(one, first...)
	h.put(two, joined(first, []string{note}, copilotTurn("3", "", "", "Else"))...)
	h.run()
	md := h.metadata(idOf(Copilot, two))
	require.Equal(t, idOf(Copilot, one), md.Text("parent_id"))
	turn, _ := md.Int("forked_from_turn")
	require.Equal(t, 2, turn)
	output := int64(0)
	for u, err := range Usage(t.Context(), h.p, projects.Query{}) {
		require.NoError(t, err)
		output += u.Output
	}
	require.Equal(t, int64(3*2), output)
}

// TestCopilotNamesFollow renames a session in its workspace.yaml alone: the session follows, until it
// is renamed here. A name that no person gave does not replace another one.
func TestCopilotNamesFollow(t *testing.T) {
	t.Parallel()
	h, id := newCopilotHome(t), idOf(Copilot, "c1")
	h.put("c1", copilotTurn("1", "", "", "One")...)
	rename := func(to string, byPerson bool) string {
		h.call("c1", to, byPerson)
		require.NotEqual(t, Diverged, h.run()["c1"].Sessions[0].Kind)
		md := h.metadata(id)
		return md.Text("name_source") + " " + md.Text("name")
	}
	require.Equal(t, "generated One", rename("One\nand more", false))
	require.Equal(t, "manual First", rename("First", true))
	require.Equal(t, "manual Second", rename("Second", true))
	require.Equal(t, "manual Second", rename("Made", false))
	require.Equal(t, "manual Third", rename("Third", true))
	host, err := sessionstore.Open(h.store().Dir(), nil)
	require.NoError(t, err)
	hold, err := host.Acquire(t.Context(), id, sessionstore.Owner{App: "host"})
	require.NoError(t, err)
	require.Equal(t, "manual Third", rename("\x01 \t", true)) // which is no name: nothing asks for the session
	require.NoError(t, errors.Join(hold.Release(), host.Close()))
	_, _, err = h.store().SetName(t.Context(), id, sessionstore.Naming{Name: "Here", Source: "manual"})
	require.NoError(t, err)
	require.Equal(t, "manual Here", rename("Fourth", true))
	require.Equal(t, []string{"user One", "assistant re One"}, h.said(id))
}

// TestCopilotWorkspace has a workspace.yaml that is none: the session comes without its name, and
// the error names the file and has no text of it.
func TestCopilotWorkspace(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%[1]c [*%[2]c,*%[2]c,*%[2]c,*%[2]c,*%[2]c,*%[2]c,*%[2]c,*%[2]c,*%[2]c]\n", c, c-1)
	}
	for name, text := range map[string]string{
		"no YAML": "id: [secret", "a list": "- secret\n", "another type": "cwd: /w\nname: {secret: 1}\n", "huge": "name: " + strings.Repeat("secret", 20000),
		"a bomb": bomb + "name: *j\n", "deep": "name: " + strings.Repeat("[", 9000), "a loop": "name: &a [*a, secret]\n", "bytes": "name: \xff\xfe\x00secret\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newCopilotHome(t)
			h.put("c1", copilotTurn("1", "", "", "One")...)
			require.NoError(t, os.WriteFile(h.path("c1", "workspace.yaml"), []byte(text), 0o600))
			all, err := Find(t.Context(), Copilot, &FindOptions{Home: h.dir})
			require.ErrorContains(t, err, filepath.Join("c1", "workspace.yaml")+": it is no YAML of at most 64 KiB")
			require.NotContains(t, err.Error(), "secret")
			require.Len(t, all, 1)
			require.Equal(t, "/w", all[0].Dir)
			report, err := Import(t.Context(), h.p, all[0], nil)
			require.NoError(t, err)
			require.Equal(t, 2, report.Sessions[0].Messages)
		})
	}
}

// TestCopilotFolders finds the sessions in a folder with other things, also by a link.
func TestCopilotFolders(t *testing.T) {
	t.Parallel()
	h := newCopilotHome(t)
	h.put("c1", copilotTurn("1", "", "", "One")...)
	h.put("C0FFEE11-0000-4000-8000-000000000001", copilotTurn("2", "", "", "Two")...)
	require.NoError(t, os.MkdirAll(h.path("empty", "files"), 0o700))
	require.NoError(t, os.MkdirAll(h.path("folder", "events.jsonl"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "session-state", "a file"), nil, 0o600))
	elsewhere := filepath.Join(t.TempDir(), "c3")
	h.put("c3", copilotTurn("3", "", "", "Three")...)
	require.NoError(t, os.Rename(filepath.Dir(h.path("c3", "x")), elsewhere))
	require.NoError(t, os.Symlink(elsewhere, filepath.Dir(h.path("c3", "x"))))
	require.NoError(t, os.Symlink("loop", filepath.Dir(h.path("loop", "x"))))
	require.NoError(t, os.Symlink("workspace.yaml", h.path("c1", "workspace.yaml")))
	all, err := Find(t.Context(), Copilot, &FindOptions{Home: h.dir})
	require.ErrorContains(t, err, "loop")
	require.ErrorContains(t, err, h.path("c1", "workspace.yaml"))
	ids := []string{}
	for _, one := range all {
		ids = append(ids, one.ID)
	}
	require.Equal(t, []string{"c0ffee11-0000-4000-8000-000000000001", "c1", "c3"}, ids)
	_, err = Import(t.Context(), h.p, all[2], nil)
	require.NoError(t, err)
	none, err := Find(t.Context(), Copilot, &FindOptions{Home: h.dir, Since: time.Now().Add(time.Hour)})
	require.ErrorContains(t, err, "loop")
	require.Empty(t, none)
}

// TestCopilotFlat imports a session of an earlier version of the tool, which had a file for each. Where there is
// a folder, too, that is the session.
func TestCopilotFlat(t *testing.T) {
	t.Parallel()
	const id = "C0FFEE11-0000-4000-8000-000000000001"
	h := newCopilotHome(t)
	first := copilotTurn("1", "", "", "One")
	h.put(id, first...)
	flat := filepath.Join(h.dir, "session-state", id+".jsonl")
	require.NoError(t, os.Rename(h.path(id, "events.jsonl"), flat))
	session := idOf(Copilot, strings.ToLower(id))
	require.Equal(t, []Imported{{session, Conversation, Created, 2}}, h.run()[strings.ToLower(id)].Sessions)
	require.Equal(t, []Imported{{session, Conversation, Unchanged, 0}}, h.run()[strings.ToLower(id)].Sessions)
	md := h.metadata(session)
	require.Equal(t, "/w", md.Text("working_dir"))
	h.put(id, joined(first, copilotTurn("2", "", "", "Two"))...)
	report := h.run()[strings.ToLower(id)]
	require.Equal(t, []Imported{{session, Conversation, Updated, 4}}, report.Sessions)
	require.Equal(t, []string{flat}, report.Shorter)
	lower := h.path(strings.ToLower(id), "")
	require.NoError(t, os.Rename(h.path(id, ""), lower)) // which comes behind the file
	all, err := Find(t.Context(), Copilot, &FindOptions{Home: h.dir})
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, filepath.Join(lower, "events.jsonl"), all[0].Path)
}

// TestCopilotOnlyAgents imports a file that has only the lines of sub-agents: no session names as its
// parent one that is not there.
func TestCopilotOnlyAgents(t *testing.T) {
	t.Parallel()
	h := newCopilotHome(t)
	started := copilotEvent("b", "B", "subagent.started", `{"toolCallId":"x","agentName":"explore","parentId":"A"}`)
	h.put("c1", joined(copilotTurn("1", "A", "agent-x", "Task A"), []string{started}, copilotTurn("2", "B", "agent-x", "Task B"))...)
	path := h.path("c1", "events.jsonl")
	_, rest, _ := strings.Cut(original(t, path), "\n") // without the first event
	require.NoError(t, os.WriteFile(path, []byte(rest), 0o600))
	all, err := Find(t.Context(), Copilot, &FindOptions{Home: h.dir})
	require.NoError(t, err)
	for _, action := range []Action{Created, Unchanged} {
		report, err := Import(t.Context(), h.p, all[0], &Options{Project: "-w"})
		require.NoError(t, err)
		require.Len(t, report.Sessions, 2)
		require.Equal(t, action, report.Sessions[0].Action)
		first, second := h.metadata(report.Sessions[0].ID), h.metadata(report.Sessions[1].ID)
		require.Empty(t, first.Text("parent_id"))
		require.Equal(t, report.Sessions[0].ID, second.Text("parent_id"))
	}
}

// TestCopilotParentComes imports a file that has only the lines of a sub-agent as yet: its session gets its parent
// with the import that makes that one.
func TestCopilotParentComes(t *testing.T) {
	t.Parallel()
	h, id := newCopilotHome(t), idOf(Copilot, "c1")
	agent := copilotTurn("1", "A", "agent-x", "Task A")
	h.put("c1", agent...)
	sub := h.run()["c1"].Sessions[0].ID
	require.Empty(t, h.metadata(sub).Text("parent_id"))
	h.put("c1", joined(agent, copilotTurn("2", "", "", "Main"))...)
	require.Equal(t, []Imported{{id, Conversation, Created, 2}, {sub, Agent, Unchanged, 2}}, h.run()["c1"].Sessions)
	require.Equal(t, id, h.metadata(sub).Text("parent_id"))
	before := tree(t, h.p.Dir())
	require.Equal(t, []Imported{{id, Conversation, Unchanged, 0}, {sub, Agent, Unchanged, 0}}, h.run()["c1"].Sessions)
	require.Equal(t, before, tree(t, h.p.Dir()))
}

// TestCopilotDamaged imports damaged and hostile files: the lines that can be read are there, the
// report names the others, and nothing hangs.
func TestCopilotDamaged(t *testing.T) {
	t.Parallel()
	one := copilotTurn("1", "", "", "One")
	got := []string{"user One", "assistant re One"}
	for name, c := range map[string]struct {
		events  []string
		damaged int
		said    []string
	}{
		"a torn end":       {append(copilotTurn("1", "", "", "One"), `{"type":"user.message","da`), 1, got},
		"bytes of zero":    {[]string{one[0], strings.Repeat("\x00", 4096), one[2]}, 1, got},
		"no object":        {joined([]string{`[1,2]`, `"x"`}, one), 2, got},
		"an id twice":      {joined(one, copilotTurn("1", "", "", "Two")), 0, []string{"user One", "assistant re One", "user Two", "assistant re Two"}},
		"no ids":           {[]string{`{"type":"user.message","data":{"content":"One"}}`, `{"type":"assistant.message","data":{"content":"re One"}}`}, 0, got},
		"a deep value":     {joined(one, []string{copilotEvent("d", "", "user.message", strings.Repeat("[", 100000))}), 1, got},
		"odd members":      {joined([]string{`{"type":5,"id":{},"data":[]}`, `{"type":"user.message","id":"m","data":null}`, copilotEvent("o", "", "assistant.message", `{"content":[1],"toolRequests":{"a":1}}`), copilotEvent("p", "", "subagent.started", `{"parentId":7}`)}, one), 0, got},
		"a lost asset":     {[]string{copilotEvent("u", "", "user.message", `{"content":"One","attachments":[{"type":"file","assetId":"gone","mimeType":"image/png"},5]}`), one[2]}, 0, got},
		"an asset of text": {[]string{copilotEvent("k", "", "session.binary_asset", `{"assetId":"k","mimeType":"text/html","data":"x"}`), copilotEvent("u", "", "user.message", `{"content":"One","attachments":[{"type":"file","assetId":"k"}]}`), one[2]}, 0, got},
		"a lost call":      {joined(one, []string{copilotEvent("r", "", "tool.execution_complete", `{"toolCallId":"x","success":true,"result":{"content":"seen"}}`)}), 0, got},
		"only a sub-agent": {copilotTurn("1", "A", "agent-x", "One"), 0, got},
		"compactions":      {joined([]string{copilotEvent("c", "", "session.compaction_start", `{}`), copilotEvent("d", "", "session.compaction_complete", `{"success":true,"summaryContent":"S"}`), copilotEvent("d", "", "session.compaction_complete", `{"success":true,"summaryContent":"S"}`)}, one), 0, nil},
		"a long line":      {joined(one, []string{copilotEvent("d", "", "user.message", `{"content":"`+strings.Repeat("x", 65<<20)+`"}`)}), 1, got},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newCopilotHome(t)
			h.put("c1", c.events...)
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			all, err := Find(ctx, Copilot, &FindOptions{Home: h.dir})
			require.NoError(t, err)
			report, err := Import(ctx, h.p, all[0], nil)
			require.NoError(t, err)
			require.Len(t, report.Damaged, c.damaged)
			if c.said != nil {
				require.Equal(t, c.said, h.said(report.Sessions[0].ID))
			}
			again, err := Import(ctx, h.p, all[0], nil)
			require.NoError(t, err)
			require.Equal(t, Unchanged, again.Sessions[0].Action)
		})
	}
}

// TestCopilotGoesOnBehindNotes exports a session again once the tool noted a resume behind it: the new
// events follow, and the events of the tool stay. No event can follow after its own prompts.
func TestCopilotGoesOnBehindNotes(t *testing.T) {
	t.Parallel()
	for line, speaks := range map[string]bool{
		copilotEvent("a", "", "session.resume", `{}`): false, copilotEvent("a", "", "session.shutdown", `{}`): false, copilotEvent("a", "", "session.binary_asset", `{}`): false,
		copilotEvent("a", "", "user.message", `{}`): true, copilotEvent("a", "", "session.context_cleared", `{}`): true, copilotEvent("a", "", "of.next_year", `{}`): true, `{`: true,
	} {
		require.Equal(t, speaks, Copilot.Speaks([]byte(line)), line)
	}
	a := newAway(t, openProjects(t), nativeID, Copilot, native...)
	a.export()
	note := copilotEvent("11111111-0000-4000-8000-000000000009", "", "session.resume", `{}`) + "\n"
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

// TestCopilotExports exports a session: the tool reads the events only with ids that are UUIDs, and
// the workspace.yaml, which a file that the tool has lacks, has the name. Where a message of the
// tool was changed here, the export clears the conversation.
func TestCopilotExports(t *testing.T) {
	t.Parallel()
	a := newAway(t, openProjects(t), nativeID, Copilot, native...)
	var b bytes.Buffer
	done, err := Export(t.Context(), a.st, a.id, Copilot, &b, nil)
	require.NoError(t, err)
	require.Equal(t, a.id+"/events.jsonl", done.File)
	require.Equal(t, "id: "+a.id+"\ncwd: /w\nname: Mine\nuser_named: true\ncreated_at: \"2026-03-04T10:00:00.000Z\"\nupdated_at: \"2026-03-04T10:01:00.000Z\"\n", string(done.Further["workspace.yaml"]))
	for line := range strings.Lines(b.String()) {
		require.Regexp(t, `"id":"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"`, line)
		require.Regexp(t, `"parentId":(null|"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")`, line)
	}

	h := newCopilotHome(t)
	h.put("c1", joined(copilotTurn("1", "", "", "One"), copilotTurn("2", "", "", "Two"))...)
	id := h.run()["c1"].Sessions[0].ID
	path := filepath.Join(h.store().Dir(), id, "transcript.jsonl")
	changed := strings.Replace(original(t, path), `"One"`, `"Changed"`, 1)
	require.NoError(t, os.WriteFile(path, []byte(changed), 0o600))
	b.Reset()
	done, err = Export(t.Context(), h.store(), id, Copilot, &b, nil)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(b.String(), original(t, h.path("c1", "events.jsonl"))))
	require.Contains(t, b.String(), `"session.context_cleared"`)
	require.Equal(t, 4, done.Messages)
}
