package foreign

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// resumed is a file of Claude Code that a test writes.
type resumed struct{ rows []string }

func (f *resumed) row(members map[string]any) *resumed {
	data, _ := json.Marshal(members)
	f.rows = append(f.rows, string(data))
	return f
}

// linked adds a record of the second sec.
func (f *resumed) linked(kind, uuid, parent string, sec int, more map[string]any) *resumed {
	members := map[string]any{"type": kind, "uuid": uuid, "parentUuid": nil, "cwd": "/w", "timestamp": fmt.Sprintf("2026-03-04T10:%02d:%02d.000Z", sec/60, sec%60)}
	if parent != "" {
		members["parentUuid"] = parent
	}
	for name, v := range more {
		members[name] = v
	}
	return f.row(members)
}

func (f *resumed) prompt(uuid, parent string, sec int) *resumed {
	return f.linked("user", uuid, parent, sec, map[string]any{"message": map[string]any{"role": "user", "content": uuid}})
}

func (f *resumed) answer(uuid, parent string, sec int) *resumed {
	return f.linked("assistant", uuid, parent, sec, map[string]any{"message": map[string]any{"id": "m" + uuid, "role": "assistant", "content": uuid}})
}

// turn adds a prompt and its answer, q and a of the name.
func (f *resumed) turn(name, parent string, sec int) *resumed {
	return f.prompt(name+"q", parent, sec).answer(name+"a", name+"q", sec+1)
}

// called adds an answer that calls, as a part of the response m, and its result.
func (f *resumed) called(uuid, parent string, sec int) *resumed {
	return f.linked("assistant", uuid, parent, sec, map[string]any{"message": map[string]any{"id": "m", "role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": "t" + uuid, "name": "look", "input": map[string]any{}}}}})
}

func (f *resumed) result(uuid, parent string, sec int) *resumed {
	return f.linked("user", uuid, parent, sec, map[string]any{"message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "t" + parent, "content": "seen"}}}})
}

// at adds the record that the tool writes with each prompt.
func (f *resumed) at(leaf any, more ...string) *resumed {
	members := map[string]any{"type": "last-prompt", "leafUuid": leaf}
	for _, name := range more {
		members[name] = true
	}
	return f.row(members)
}

// TestResumesAsTheTool has files that Claude Code 2.1.332 was driven to resume: the
// conversation of the import has the prompts that it sent to the model. What it left out
// becomes forks.
func TestResumesAsTheTool(t *testing.T) {
	t.Parallel()
	begun := func() *resumed { return new(resumed).turn("1", "", 0) }
	side := map[string]any{"isSidechain": true, "message": map[string]any{"role": "user", "content": "s"}}
	link := map[string]any{"subtype": "informational", "attachment": map[string]any{"type": "hook_success"}}
	of := func(kind string) map[string]any {
		return map[string]any{"subtype": kind, "attachment": map[string]any{"type": kind}}
	}
	for _, c := range []struct {
		about, want string
		file        *resumed
	}{
		{"an earlier record has a newer time", "1q 3q", begun().turn("2", "1a", 60).turn("3", "1a", 30)},
		{"the last record is of a sub-agent", "1q 2q", begun().turn("2", "1a", 60).linked("user", "s", "1a", 70, side)},
		{"a system record is last", "1q", begun().turn("2", "1a", 60).linked("system", "s", "1a", 30, link)},
		{"an attachment is last", "1q", begun().turn("2", "1a", 60).linked("attachment", "s", "1a", 30, link)},
		{"progress is last", "1q 3q", begun().turn("2", "1a", 60).turn("3", "1a", 70).linked("progress", "s", "2a", 90, link)},
		{"the briefing of a fork is last", "1q 3q", begun().turn("2", "1a", 60).turn("3", "1a", 30).linked("attachment", "s", "2a", 90, of("fork_briefing"))},
		{"a title names another branch", "1q 3q", begun().turn("2", "1a", 60).turn("3", "1a", 30).row(map[string]any{"type": "summary", "summary": "x", "leafUuid": "2a"})},
		{"a prompt without an answer is last", "1q 3q", begun().turn("2", "1a", 60).prompt("3q", "1a", 30)},
		{"a text of the tool is last", "1q 2q", begun().turn("2", "1a", 60).linked("user", "s", "2a", 61, map[string]any{"isMeta": true, "message": map[string]any{"role": "user", "content": "<x>s"}})},
		{"another beginning is last", "3q", begun().turn("2", "1a", 60).turn("3", "", 30)},
		{"the last line is cut", "1q 3q", &resumed{append(begun().turn("2", "1a", 60).turn("3", "1a", 30).rows, `{"parentUuid":"2a","uuid`)}},
		{"the tool was at another branch", "1q 2q", begun().turn("2", "1a", 60).turn("3", "1a", 30).at("2a")},
		{"it was there before the last prompt", "1q 2q", begun().turn("2", "1a", 60).at("2a").turn("3", "1a", 90)},
		{"it went on from there", "1q 2q", begun().at("1a").turn("2", "1a", 60)},
		{"it was there, and says so last", "1q 2q", begun().turn("2", "1a", 60).at("1a")},
		{"a person went back, and left", "1q", begun().turn("2", "1a", 60).at("1a", "explicit", "rewound")},
		{"a person went back, and on", "1q 3q", begun().turn("2", "1a", 60).at("1a", "explicit", "rewound").turn("3", "1a", 90)},
		{"a person went to a branch, and the other one went on", "1q 2q", begun().turn("2", "1a", 60).at("2a", "explicit").turn("3", "1a", 90)},
		{"it was at two branches", "1q 3q", begun().turn("2", "1a", 60).at("2a").turn("3", "1a", 30).at("3a").turn("4", "2a", 90)},
		{"it was at a record that is not there", "1q 3q", begun().turn("2", "1a", 60).turn("3", "1a", 30).at("nowhere")},
		{"it does not say where it was", "1q 3q", begun().turn("2", "1a", 60).turn("3", "1a", 30).at(nil)},
		{"it was behind the answer", "1q", begun().linked("attachment", "s", "1a", 2, link).at("s").turn("2", "1a", 60)},
		{"it was at the first of two calls", "1q 2q 3q", begun().prompt("2q", "1a", 10).called("x", "2q", 11).called("y", "x", 12).result("r", "x", 13).result("u", "y", 14).at("r").turn("3", "u", 20)},
		{"it was at a call, and went on before it", "1q 2q", begun().prompt("2q", "1a", 10).called("x", "2q", 11).at("x").turn("3", "2q", 20)},
		{"it was there before the compaction", "2q", new(resumed).turn("1", "", 0).at("1a").linked("system", "b", "", 10, map[string]any{"subtype": "compact_boundary"}).turn("2", "b", 20)},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			g := newGrowing(t)
			g.write(strings.Join(c.file.rows, "\n") + "\n")
			done := g.run(nil)
			require.Equal(t, Conversation, done[0].Kind)
			s, err := g.st.Load(t.Context(), done[0].ID)
			require.NoError(t, err)
			var said []string
			for _, m := range s.Messages {
				if m.Role() == "user" && !strings.HasPrefix(m.Content(), "<") {
					said = append(said, m.Content())
				}
			}
			require.Equal(t, c.want, strings.Join(said, " "))
		})
	}
}

// TestExportResumes exports a session that went on here behind a turn of Claude Code that
// ends with an attachment, where the tool was. The export says that it goes on behind that:
// else the tool would resume without the turns that were added here.
func TestExportResumes(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	f := new(resumed).turn("1", "", 0).linked("attachment", "s", "1a", 2, map[string]any{"attachment": map[string]any{"type": "prompt_snapshot"}}).at("s")
	g.write(strings.Join(f.rows, "\n") + "\n")
	id := g.run(nil)[0].ID
	g.say(id, "ours", "our answer")
	var b strings.Builder
	done, err := Export(t.Context(), g.st, id, Claude, &b, nil)
	require.NoError(t, err)
	require.Equal(t, 2, done.Messages)
	g = newGrowing(t)
	g.write(b.String())
	require.Equal(t, []string{"1q", "1a", "ours", "our answer"}, texts(t, g.st, g.run(nil)[0].ID))
}

// TestFiller imports the answer that Claude Code writes behind a prompt without an answer
// when a person goes on: it is none. What a model said is one, and so is an error.
func TestFiller(t *testing.T) {
	t.Parallel()
	const words = "No response requested."
	for _, c := range []struct {
		model   string
		content any
		want    []string
	}{
		{"<synthetic>", words, []string{"p\n\nq", "a"}},
		{"<synthetic>", []any{map[string]any{"type": "text", "text": words}}, []string{"p\n\nq", "a"}},
		{"claude", words, []string{"p", words, "q", "a"}},
		{"<synthetic>", "API Error", []string{"p", "API Error", "q", "a"}},
	} {
		g := newGrowing(t)
		f := new(resumed).prompt("p", "", 0).linked("assistant", "f", "p", 1, map[string]any{"message": map[string]any{"id": "f", "role": "assistant", "model": c.model, "content": c.content}})
		g.write(strings.Join(f.rows, "\n") + "\n")
		require.Equal(t, c.want[0] == "p", len(texts(t, g.st, g.run(nil)[0].ID)) == 2)
		g.write(strings.Join(f.prompt("q", "f", 2).answer("a", "q", 3).rows, "\n") + "\n")
		made := g.run(nil)
		require.Len(t, made, 1)
		require.Equal(t, c.want, texts(t, g.st, made[0].ID))
	}
}
