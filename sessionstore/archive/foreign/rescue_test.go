package foreign

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

func rescueAll(t testing.TB, p *projects.Projects, tool Tool, o *RescueOptions) (all []Rescued) {
	t.Helper()
	for r, err := range Rescue(t.Context(), p, tool, o) {
		require.NoError(t, err)
		all = append(all, r)
	}
	return all
}

// requestOf returns the request that a tool sends of a file whose lines follow each other, nil
// where a line cannot be read or leads nowhere.
func requestOf(tool Tool, data []byte) []byte {
	var messages []any
	seen := map[any]bool{nil: true}
	first := true
	for row := range bytes.Lines(data) {
		var r struct {
			Type    string
			Parent  any `json:"parentUuid"`
			UUID    any
			Message any
			Payload map[string]any
		}
		if json.Unmarshal(row, &r) != nil || !seen[r.Parent] || first && tool == Codex && r.Type != "session_meta" {
			return nil
		}
		first, seen[r.UUID] = false, true
		switch {
		case tool == Claude && r.Message != nil:
			messages = append(messages, r.Message)
		case r.Type == "response_item":
			messages = append(messages, r.Payload)
		}
	}
	in := map[string]any{"model": "x", "max_tokens": 100, "messages": messages}
	if tool == Codex {
		in = map[string]any{"model": "x", "input": messages, "store": false}
	}
	b, _ := json.Marshal(in)
	return b
}

// refuses reports whether a tool cannot read a file, or its provider refuses what it sends.
func refuses(tool Tool, data []byte) (why []strict.Refusal, is bool) {
	request := requestOf(tool, data)
	if request == nil {
		return nil, true
	}
	api := strict.Anthropic
	if tool == Codex {
		api = strict.Responses
	}
	why = strict.Judge(api, strict.Limits{}, request)
	return why, len(why) > 0
}

// TestRescue: of each broken session comes one that the provider takes, with everything that
// was said, under new ids; the broken one stays as it was, and so does its copy.
func TestRescue(t *testing.T) {
	t.Parallel()
	for _, tool := range []Tool{Claude, Codex} {
		for i, w := range wrecks {
			t.Run(string(tool)+" "+w.name, func(t *testing.T) {
				t.Parallel()
				home, f := t.TempDir(), newMadeFile(tool, i+1)
				path := w.broken(t, home, f)
				if path == "" {
					return // no fault of this tool
				}
				was, err := os.ReadFile(path)
				require.NoError(t, err)
				_, is := refuses(tool, was)
				require.True(t, is, "the broken session is taken")

				p := openProjects(t)
				dry := rescueAll(t, p, tool, &RescueOptions{Home: home, DryRun: true})
				before := tree(t, home)
				require.Len(t, before, 1)
				all := rescueAll(t, p, tool, &RescueOptions{Home: home})
				require.Len(t, all, 1)
				r := all[0]
				kinds := map[string]bool{}
				for _, fault := range r.Faults {
					kinds[fault.Kind] = true
					assert.NotEmpty(t, fault.Mend, fault)
					assert.NotContains(t, fault.String(), "made-up")
				}
				for _, k := range w.kinds {
					assert.True(t, kinds[k], "no fault of kind %s among %v", k, r.Faults)
				}
				assert.True(t, r.Mended())
				require.NotEmpty(t, r.NewPath)
				assert.Equal(t, r.NewID, dry[0].NewID)
				assert.Equal(t, r.Faults, dry[0].Faults)

				now, err := os.ReadFile(path)
				require.NoError(t, err)
				assert.Equal(t, sha256.Sum256(was), sha256.Sum256(now))
				kept, err := os.ReadFile(r.Original)
				require.NoError(t, err)
				assert.Equal(t, sha256.Sum256(was), sha256.Sum256(kept))
				assert.Contains(t, r.Original, string(filepath.Separator)+".sessionstore"+string(filepath.Separator))

				made, err := os.ReadFile(r.NewPath)
				require.NoError(t, err)
				why, is := refuses(tool, made)
				assert.False(t, is, "%v", why)
				assert.NotContains(t, string(made), f.id())
				if kinds["missing_head"] {
					assert.Contains(t, string(made), `"model_provider":`) // else Codex does not resume it
				}
				if tool == Claude {
					for _, row := range f.file() {
						assert.NotContains(t, string(made), row["uuid"])
					}
				}
				again := rescueAll(t, p, tool, &RescueOptions{Home: home, ID: r.NewID})
				require.Len(t, again, 1)
				assert.Empty(t, again[0].Faults, "the new session has faults")
				assert.Equal(t, all, rescueAll(t, p, tool, &RescueOptions{Home: home, File: path}), "it is made again")
				assertSaid(t, tool, home, r.NewID, f, w.lost)
			})
		}
	}
}

// assertSaid imports a session, which has each prompt and answer once.
func assertSaid(t *testing.T, tool Tool, home, id string, f spokenBy, lost []string) {
	t.Helper()
	p := openProjects(t)
	found, err := Find(t.Context(), tool, &FindOptions{Home: home})
	require.NoError(t, err)
	for _, h := range found {
		if h.ID != id {
			continue
		}
		report, err := Import(t.Context(), p, h, nil)
		require.NoError(t, err)
		assert.Empty(t, report.Damaged)
		st, err := p.Store(report.Project)
		require.NoError(t, err)
		s, err := st.Load(t.Context(), report.Sessions[0].ID)
		require.NoError(t, err)
		var said strings.Builder
		for _, m := range s.Messages {
			said.Write(m.AppendTo(nil))
		}
		for _, text := range textsOf(f) {
			n := 1
			for _, gone := range lost {
				if gone == text {
					n = 0
				}
			}
			assert.Equal(t, n, strings.Count(said.String(), text), text)
		}
		return
	}
	assert.Fail(t, "the tool does not find the new session")
}

// TestRescueDamaged: half an object is kept beside the original, and no other copy has it.
func TestRescueDamaged(t *testing.T) {
	t.Parallel()
	home, f := t.TempDir(), newMadeFile(Claude, 1)
	talk(f)
	all := linesOf(t, f)
	half := append([]byte(nil), all[5][:60]...)
	all[5] = append(append([]byte(nil), half...), all[5]...)
	require.NoError(t, os.MkdirAll(filepath.Dir(f.path(home)), 0o700))
	require.NoError(t, os.WriteFile(f.path(home), joinLines(all), 0o600))
	r := rescueAll(t, openProjects(t), Claude, &RescueOptions{Home: home})[0]
	cut, err := os.ReadFile(r.Damaged)
	require.NoError(t, err)
	assert.Equal(t, string(half)+"\n", string(cut))
	assert.True(t, strings.HasSuffix(r.Damaged, ".damaged"))
}

// TestRescueGoesOn: a file that cannot be read, or not mended, ends no others.
func TestRescueGoesOn(t *testing.T) {
	t.Parallel()
	for _, tool := range []Tool{Claude, Codex} {
		home := t.TempDir()
		for i := range 3 {
			wrecks[0].broken(t, home, newMadeFile(tool, i+1))
		}
		f := newMadeFile(tool, 9)
		require.NoError(t, os.WriteFile(f.path(home), make([]byte, 100), 0o600)) // nothing is left
		before, mended, not := tree(t, home), 0, 0
		for _, r := range rescueAll(t, openProjects(t), tool, &RescueOptions{Home: home}) {
			if r.Mended() {
				mended++
			} else {
				not++
				assert.Empty(t, r.NewID)
			}
		}
		assert.Equal(t, [2]int{3, 1}, [2]int{mended, not}, tool)
		after := tree(t, home)
		for path, was := range before {
			assert.Equal(t, was, after[path])
		}
	}
}

// TestRescueArguments: an id that is nowhere, and a tool that is none.
func TestRescueArguments(t *testing.T) {
	t.Parallel()
	for _, tool := range []Tool{"x", Pi} {
		for _, err := range Rescue(t.Context(), openProjects(t), tool, nil) {
			assert.ErrorIs(t, err, ErrTool)
		}
	}
	n := 0
	for _, err := range Rescue(t.Context(), openProjects(t), Claude, &RescueOptions{Home: t.TempDir(), ID: "x"}) {
		n++
		assert.Error(t, err)
	}
	assert.Equal(t, 1, n)
}

// TestRescueBeginning: a beginning names the only session that begins so, an id the session that has it.
func TestRescueBeginning(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, id := range []string{"aaaa", "aaaab", "b"} {
		path := filepath.Join(home, "projects", "-p", id+".jsonl")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		line := fmt.Sprintf(`{"type":"user","uuid":"u-%[1]s","parentUuid":null,"sessionId":"%[1]s","cwd":"/p","timestamp":"2026-05-06T07:08:09.000Z","message":{"role":"user","content":"hello"}}`, id)
		require.NoError(t, os.WriteFile(path, []byte(line+"\n"), 0o600))
	}
	for ref, want := range map[string]string{"aaaa": "aaaa", "aaaab": "aaaab", "b": "b", "aa": ""} {
		found := ""
		for done, err := range Rescue(t.Context(), openProjects(t), Claude, &RescueOptions{Home: home, ID: ref, DryRun: true}) {
			several := (*sessionstore.AmbiguousError)(nil)
			assert.Equal(t, want == "", errors.As(err, &several), "%v", err)
			found += done.ID
		}
		assert.Equal(t, want, found, ref)
	}
}

// TestRescueNames: the new thread has the name of the old one in the tool's file of names.
func TestRescueNames(t *testing.T) {
	t.Parallel()
	home, f := t.TempDir(), newMadeFile(Codex, 1)
	wrecks[0].broken(t, home, f)
	index := filepath.Join(home, "session_index.jsonl")
	require.NoError(t, os.WriteFile(index, fmt.Appendf(nil, `{"id":%q,"thread_name":"A name","updated_at":"2026-05-06T00:00:00Z"}`+"\n", f.id()), 0o600))
	r := rescueAll(t, openProjects(t), Codex, &RescueOptions{Home: home})[0]
	found, err := Find(t.Context(), Codex, &FindOptions{Home: home})
	require.NoError(t, err)
	for _, h := range found {
		assert.Equal(t, "A name", h.Title, h.ID == r.NewID)
	}
}

// TestRescueAgents: the new session has the sub-agents of the old one, which the tool goes on with
// by their ids.
func TestRescueAgents(t *testing.T) {
	t.Parallel()
	home, f := t.TempDir(), newMadeFile(Claude, 1)
	dir := filepath.Join(strings.TrimSuffix(wrecks[0].broken(t, home, f), ".jsonl"), "subagents")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	line := fmt.Sprintf(`{"type":"user","uuid":"u-1","parentUuid":null,"isSidechain":true,"agentId":"a1","sessionId":%q,"message":{"role":"user","content":"a task"}}`+"\n", f.id())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agent-a1.jsonl"), []byte(line), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agent-a1.meta.json"), []byte(`{"agentType":"made-up"}`), 0o600))
	before := tree(t, home)
	r := rescueAll(t, openProjects(t), Claude, &RescueOptions{Home: home})[0]
	after := tree(t, home)
	for path, was := range before {
		assert.Equal(t, was, after[path], path)
	}
	agents, err := filepath.Rel(home, filepath.Join(strings.TrimSuffix(r.NewPath, ".jsonl"), "subagents"))
	require.NoError(t, err)
	made := after[filepath.Join(agents, "agent-a1.jsonl")]
	assert.Contains(t, made, `"sessionId":"`+r.NewID+`"`)
	assert.Contains(t, made, "a task")
	assert.NotContains(t, made, "u-1")
	assert.JSONEq(t, `{"agentType":"made-up"}`, after[filepath.Join(agents, "agent-a1.meta.json")])
}

// TestRescueDoesNotJudgeAgents: what a provider would refuse of a sub-agent's conversation, which
// no tool goes on with, is no fault of the session and is copied as it is, with new ids. Only what
// is no line of the tool is left out, and stays in the file of the original.
func TestRescueDoesNotJudgeAgents(t *testing.T) {
	t.Parallel()
	p, home, f := openProjects(t), t.TempDir(), newMadeFile(Claude, 1)
	talk(f)
	path := f.path(home)
	dir := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	call := fmt.Sprintf(`{"type":"assistant","uuid":"u-1","parentUuid":null,"isSidechain":true,"agentId":"a1","sessionId":%q,"message":{"role":"assistant","content":[{"type":"tool_use","id":"no.result","name":"f","input":{}},{"type":"text","text":""}]}}`, f.id())
	picture := fmt.Sprintf(`{"type":"user","uuid":"u-2","parentUuid":"u-1","isSidechain":true,"agentId":"a1","sessionId":%q,"message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"bm8="}}]}}`, f.id())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agent-a1.jsonl"), []byte(call+"\n"+picture+"\n"+picture[:40]), 0o600))
	require.NoError(t, os.WriteFile(path, joinLines(linesOf(t, f)), 0o600))
	require.Empty(t, rescueAll(t, p, Claude, &RescueOptions{Home: home})[0].Faults, "the sub-agent was judged")

	require.NoError(t, os.Remove(path))
	wrecks[0].broken(t, home, newMadeFile(Claude, 1))
	r := rescueAll(t, p, Claude, &RescueOptions{Home: home})[0]
	for _, fault := range r.Faults {
		require.Equal(t, wrecks[0].kinds[0], fault.Kind)
	}
	made, err := os.ReadFile(filepath.Join(strings.TrimSuffix(r.NewPath, ".jsonl"), "subagents", "agent-a1.jsonl"))
	require.NoError(t, err)
	want := call + "\n" + picture + "\n"
	for _, id := range []string{"u-1", "u-2"} {
		want = strings.ReplaceAll(want, `"`+id+`"`, `"`+thread.UUID5("claude", r.NewID+"/"+id)+`"`)
	}
	require.Equal(t, strings.ReplaceAll(want, f.id(), r.NewID), string(made))
}

// TestRescueSound: sessions without faults are called sound, and nothing is written.
func TestRescueSound(t *testing.T) {
	t.Parallel()
	for _, tool := range []Tool{Claude, Codex} {
		home := t.TempDir()
		r := rand.New(rand.NewPCG(testenv.Seed(t), 5))
		for i := range 500 {
			f := newMadeFile(tool, i+1)
			if c, ok := f.(*codexFile); ok {
				c.ordinal = r.IntN(2) == 0
			}
			soundTalk(f, r)
			data := joinLines(linesOf(t, f))
			switch r.IntN(6) {
			case 0:
				data = bytes.TrimSuffix(data, []byte("\n"))
			case 1:
				data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
			case 2:
				data = append([]byte("\ufeff"), data...)
			case 3:
				data = bytes.ReplaceAll(data, []byte("\n"), []byte("\n\n  \n"))
			}
			require.NoError(t, os.MkdirAll(filepath.Dir(f.path(home)), 0o700))
			require.NoError(t, os.WriteFile(f.path(home), data, 0o600))
		}
		before := tree(t, home)
		all := rescueAll(t, openProjects(t), tool, &RescueOptions{Home: home})
		require.Len(t, all, 500)
		for _, r := range all {
			require.Empty(t, r.Faults, r.Path)
		}
		assert.Equal(t, before, tree(t, home))
	}
	for _, tool := range []Tool{Claude, Codex} { // what the tools themselves wrote
		for _, r := range rescueAll(t, openProjects(t), tool, &RescueOptions{Home: filepath.Join("testdata", "live", string(tool)), DryRun: true}) {
			assert.Empty(t, r.Faults, r.Path)
		}
	}
}

// soundTalk makes a sound conversation at random: also several prompts in a row, an interrupted
// one, branches, and calls whose results are beside the conversation.
func soundTalk(f spokenBy, r *rand.Rand) {
	calls := 0
	for i := range 1 + r.IntN(6) {
		var pictures []string
		for range r.IntN(3) {
			pictures = append(pictures, small)
		}
		f.prompt(fmt.Sprintf("question %d.", i), pictures...)
		if r.IntN(5) == 0 {
			f.prompt(fmt.Sprintf("more of question %d.", i))
		}
		for range r.IntN(3) {
			ids := []string{}
			for range 1 + r.IntN(3) {
				calls++
				ids = append(ids, fmt.Sprint("call_", calls))
			}
			f.call(ids...)
			for _, id := range ids {
				f.result(id, "result of "+id, pictures...)
			}
			if c, ok := f.(*claudeFile); ok && len(ids) > 1 && r.IntN(2) == 0 {
				besideEachOther(c, len(ids))
			}
		}
		if r.IntN(8) > 0 {
			f.answer(fmt.Sprintf("answer %d.", i))
		}
		if c, ok := f.(*claudeFile); ok && r.IntN(6) == 0 { // a prompt that was edited
			last := c.last
			c.prompt("a question that was taken back")
			c.last = last
		}
	}
	f.answer("the last answer.")
}

// besideEachOther lets each of the last n results follow its own call, as the tool does with
// calls at once: all but the last are beside the conversation.
func besideEachOther(c *claudeFile, n int) {
	calls, results := c.rows[len(c.rows)-2*n:len(c.rows)-n], c.rows[len(c.rows)-n:]
	for i := range results {
		results[i]["parentUuid"] = calls[i]["uuid"]
	}
}

// FuzzRescue: no damage ends in a panic, and no file of the tool changes.
func FuzzRescue(f *testing.F) {
	for i, w := range wrecks {
		for _, tool := range []Tool{Claude, Codex} {
			home, file := f.TempDir(), newMadeFile(tool, i+1)
			if path := w.broken(f, home, file); path != "" && w.name != "many pictures" {
				data, err := os.ReadFile(path)
				require.NoError(f, err)
				f.Add(data, tool == Claude)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, claude bool) {
		tool := Codex
		if claude {
			tool = Claude
		}
		home, file := t.TempDir(), newMadeFile(tool, 1)
		require.NoError(t, os.MkdirAll(filepath.Dir(file.path(home)), 0o700))
		require.NoError(t, os.WriteFile(file.path(home), data, 0o600))
		p := openProjects(t)
		for r, err := range Rescue(t.Context(), p, tool, &RescueOptions{Home: home}) {
			if err == nil && r.NewID != "" {
				for _, again := range rescueAll(t, p, tool, &RescueOptions{Home: home, ID: r.NewID}) {
					require.Empty(t, again.Faults)
				}
			}
		}
		now, err := os.ReadFile(file.path(home))
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, now), "the file changed")
	})
}
