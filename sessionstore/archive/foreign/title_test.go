package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSummaries has titles that stand in the file of another session: they name the
// session that has the record which they are of, and no other one.
func TestSummaries(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "projects", "-w")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	of := func(leaf, title string) string {
		return fmt.Sprintf(`{"type":"summary","summary":%q,"leafUuid":%q}`+"\n", title, leaf)
	}
	ai := `{"type":"ai-title","aiTitle":"Its own"}` + "\n"
	for name, text := range map[string]string{
		"a": many("a", 2),
		"b": of("a-assistant-0", "Old of a") + of("a-assistant-1", "Of a") + of("gone", "Of none") + many("b", 1),
		"c": of("d-assistant-0", "Of d") + many("c", 1) + of("c-assistant-0", "Of c"),
		"d": many("d", 1) + ai,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text), 0o600))
	}
	all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
	require.NoError(t, err)
	p, names := openProjects(t), map[string]string{}
	for _, h := range all {
		report, err := Import(t.Context(), p, h, nil)
		require.NoError(t, err)
		st, err := p.Store(report.Project)
		require.NoError(t, err)
		md, err := st.Metadata(t.Context(), report.Sessions[0].ID)
		require.NoError(t, err)
		names[h.ID] = md.Text("name")
	}
	require.Equal(t, map[string]string{"a": "Of a", "b": "", "c": "Of c", "d": "Its own"}, names)
}

// TestTitleIsTyped imports conversations whose first prompt does not begin with what a
// person typed: lists call them by what the person typed, or else by the command.
func TestTitleIsTyped(t *testing.T) {
	t.Parallel()
	block := func(said ...string) string {
		var all []string
		for _, s := range said {
			all = append(all, fmt.Sprintf(`{"type":"text","text":%q}`, s))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	file := "<ide_opened_file>The user opened the file /w/a.go in the IDE.</ide_opened_file>"
	picked := "<ide_selection>The user selected the lines 1 to 3:\nfunc a() {\n\n}</ide_selection>"
	review := "<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n<command-args>the parser\nand more</command-args>"
	const context = "# Context from my IDE setup:\n\n## Active file: a.go\n\n"
	for _, c := range []struct {
		tool   Tool
		want   string
		prompt []string
	}{
		{Claude, "why is it slow?", []string{block(file, "why is it slow?\nand so on")}},
		{Claude, "why is it slow?", []string{block(file, picked, "\n why is it slow?")}},
		{Claude, "why is it slow?", []string{block(picked+"\n\nwhy is it slow?", "yes")}},
		{Claude, "what is a?", []string{block("<bash-input>ls -l</bash-input>"), block("what is a?")}},
		{Claude, "what is a?", []string{block(review), block("what is a?")}},
		{Claude, "! ls -l", []string{block("<bash-input>ls -l</bash-input>")}},
		{Claude, "/review the parser", []string{block(review)}},
		{Claude, "init", []string{block("<command-message>init</command-message>")}},
		{Claude, "<div>why is this red?</div>", []string{block("<div>why is this red?</div>")}},
		{Claude, "plain", []string{block("plain")}},
		{Codex, "why is it slow?", []string{block(context + "## My request for Codex:\nwhy is it slow?\n")}},
		{Codex, "why is it slow?", []string{block(context + "## My request for Codex: why is it slow?")}},
		{Codex, "what is a?", []string{block(context), block("what is a?")}},
		{Codex, "what is a?", []string{block(context+"## My request for Codex:\n", "what is a?")}},
		{Codex, "plain", []string{block("plain")}},
	} {
		g := newGrowing(t)
		var rows strings.Builder
		parent := "null"
		for i, prompt := range c.prompt {
			switch c.tool {
			case Claude:
				human := ""
				if strings.Contains(prompt, "<div>") {
					human = `"origin":{"kind":"human"},`
				}
				fmt.Fprintf(&rows, `{"type":"user","uuid":"u%d",%s"parentUuid":%s,"message":{"content":%s}}`+"\n", i, human, parent, prompt)
				fmt.Fprintf(&rows, `{"type":"assistant","uuid":"a%d","parentUuid":"u%d","message":{"id":"m%d","content":"fine"}}`+"\n", i, i, i)
				parent = fmt.Sprintf(`"a%d"`, i)
			case Codex:
				prompt = strings.ReplaceAll(prompt, `"type":"text"`, `"type":"input_text"`)
				fmt.Fprintf(&rows, `{"type":"response_item","payload":{"type":"message","role":"user","content":%s}}`+"\n", prompt)
				fmt.Fprintln(&rows, `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"fine"}]}}`)
			}
		}
		g.write(rows.String())
		report, err := Import(t.Context(), g.p, History{Tool: c.tool, ID: "g", Path: g.path, Dir: "/w"}, nil)
		require.NoError(t, err)
		s, err := g.st.Summary(t.Context(), report.Sessions[0].ID)
		require.NoError(t, err)
		require.Equal(t, c.want, s.Title, "%s %v", c.tool, c.prompt)
	}
}

// TestGivenTitles has titles that a tool took from a prompt or a command.
func TestGivenTitles(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Fix the parser": "Fix the parser",
		"<div> is red":   "<div> is red",
		"<ide_opened_file>x</ide_opened_file>why is it slow?":                                    "why is it slow?",
		"<ide_opened_file>The user opened the f":                                                 "text 0",
		"<bash-input>ls</bash-input>":                                                            "! ls",
		"<command-message>init is running</command-message>\n<command-name>/init</command-name>": "/init",
		"# Context from my IDE setup:\n\n## Open tabs:\n- a.go":                                  "text 0",
		"# Context from my IDE setup:\n\n## My request for Codex:\nwhy is it slow?":              "why is it slow?",
		"Unknown skill: x":         "text 0",
		"Unknown skill: the lexer": "Unknown skill: the lexer",
	} {
		g := newGrowing(t)
		g.write(many("g", 1))
		report, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w", Title: title}, nil)
		require.NoError(t, err)
		s, err := g.st.Summary(t.Context(), report.Sessions[0].ID)
		require.NoError(t, err)
		require.Equal(t, want, s.Title, title)
	}
}

// TestAgentIsCalledByItsTask has sub-agents of one kind: they are called by what the file
// beside theirs or the call that began them describes, or as the index of Codex does.
func TestAgentIsCalledByItsTask(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(home, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	calls := `{"type":"assistant","uuid":"c","parentUuid":"a-assistant-0","message":{"id":"c","content":[` +
		`{"type":"tool_use","id":"1","name":"Task","input":{"description":"Check the lexer","prompt":"Read lexer.go.","subagent_type":"x"}},` +
		`{"type":"tool_use","id":"2","name":"Agent","input":{"description":"Check the tests","prompt":"Read all tests."}}]}}` + "\n"
	asked := func(uuid, prompt string) string {
		return `{"type":"user","uuid":"` + uuid + `","parentUuid":null,"isSidechain":true,"sessionId":"a","message":{"content":"` + prompt + `"}}` + "\n" +
			`{"type":"assistant","uuid":"` + uuid + `a","parentUuid":"` + uuid + `","isSidechain":true,"sessionId":"a","message":{"id":"` + uuid + `","content":"fine"}}` + "\n"
	}
	write("projects/-w/a.jsonl", many("a", 1)+calls+asked("s", "Read lexer.go."))
	write("projects/-w/agent-5.jsonl", asked("5", "Read all tests."))
	for agent, meta := range map[string]string{
		"1": `{"agentType":"reviewer","description":"Check the parser","toolUseId":"x"}`,
		"2": `{"agentType":"reviewer","description":"Check the writer"}`,
		"3": `{"agentType":"reviewer"}`,
		"4": `{"agentType":"reviewer"`,
	} {
		write("projects/-w/a/subagents/agent-"+agent+".jsonl", many(agent, 1))
		write("projects/-w/a/subagents/agent-"+agent+".meta.json", meta)
		write("projects/-w/gone/subagents/agent-"+agent+".jsonl", many(agent, 1))
		write("projects/-w/gone/subagents/agent-"+agent+".meta.json", meta)
	}
	rollout := func(id, source string) {
		write("sessions/rollout-2026-03-04T10-00-00-"+id+".jsonl", `{"type":"session_meta","payload":{"id":"`+id+`","cwd":"/w"`+source+`}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"fine"}]}}
`)
	}
	spawned := func(by string) string {
		return `,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + by + `","agent_role":"worker"}}}`
	}
	rollout("x", "")
	rollout("y", spawned("x"))
	rollout("z", spawned("x"))
	rollout("v", spawned("gone"))
	write("session_index.jsonl", `{"id":"y","thread_name":"Count the lines"}`+"\n"+`{"id":"v","thread_name":"Count the words"}`+"\n")

	p, names := openProjects(t), map[string]int{}
	for _, tool := range []Tool{Claude, Codex} {
		all, err := Find(t.Context(), tool, &FindOptions{Home: home})
		require.NoError(t, err)
		for _, h := range all {
			report, err := Import(t.Context(), p, h, nil)
			require.NoError(t, err)
			st, err := p.Store(report.Project)
			require.NoError(t, err)
			for _, s := range report.Sessions {
				if s.Kind == Agent {
					md, err := st.Metadata(t.Context(), s.ID)
					require.NoError(t, err)
					names[md.Text("name")]++
				}
			}
		}
	}
	require.Equal(t, map[string]int{
		"Check the lexer": 1, "Check the tests": 1, "Check the parser": 2, "Check the writer": 2, "reviewer": 2, "agent": 2, "Count the lines": 1, "Count the words": 1, "worker": 1,
	}, names)
}
