package foreign

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// oddRows are sessions whose rows a provider takes, and of which the lines of a tool say less.
func oddRows() map[string][]string {
	uses := `{"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "x"}}]}`
	both := `{"role": "assistant", "content": [{"type": "text", "text": "I look"}, {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "x"}}], "tool_calls": [{"id": "c1", "tool": "bash", "arguments": {"command": "x"}}]}`
	given := func(more string) string {
		return `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "one"}]}` + more + `]}`
	}
	document := `{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "page"}}`
	return map[string][]string{
		"a call in both forms":       {asked("go"), both, result("c1", "one"), answered("done")},
		"results as blocks":          {asked("go"), uses, given(""), answered("done")},
		"results and a prompt":       {asked("go"), uses, given(`, {"type": "text", "text": "and on"}`), answered("done")},
		"a document alone":           {`{"role": "user", "content": [` + document + `]}`, answered("done")},
		"a document and a text":      {`{"role": "user", "content": [` + document + `, {"type": "text", "text": "Read"}]}`, answered("done")},
		"thinking alone":             {asked("go"), `{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "c2lnbg=="}, {"type": "text", "text": "so"}]}`, asked("on"), answered("done")},
		"redacted":                   {asked("go"), `{"role": "assistant", "content": [{"type": "redacted_thinking", "data": "c2lnbg=="}, {"type": "text", "text": "so"}]}`, asked("on"), answered("done")},
		"a result without a text":    {asked("go"), calling("c1"), `{"role": "tool", "name": "bash", "tool_call_id": "c1", "content": [` + `{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"}}` + `]}`, answered("done")},
		"an empty result":            {asked("go"), calling("c1"), result("c1", ""), answered("done")},
		"a reminder between":         {asked("go"), calling("c1"), result("c1", "one"), asked("<system-reminder>\nBe kind.\n</system-reminder>"), answered("done")},
		"a reminder first":           {asked("<system-reminder>\nBe kind.\n</system-reminder>"), asked("go"), answered("done")},
		"a system row":               {`{"role": "system", "content": "You are kind."}`, asked("go"), answered("done")},
		"arguments that are no JSON": {asked("go"), `{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": "{\"command\": \"x"}}]}`, result("c1", "one"), answered("done")},
		"a picture of another form":  {`{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"}}]}`, answered("done")},
		"a dot in a name":            {asked("go"), `{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "tool": "fs.read", "arguments": {}}]}`, result("c1", "one"), answered("done")},
		"a result of nothing":        {asked("go"), uses, `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]}`, answered("done")},
		"server tools":               {asked("go"), `{"role": "assistant", "content": [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}]}`, asked("on"), answered("done")},
	}
}

// TestExportOdd exports sessions of which the lines of a tool say less than the rows: its
// provider takes the lines, and only what is new comes home.
func TestExportOdd(t *testing.T) {
	t.Parallel()
	for name, rows := range oddRows() {
		for i, tool := range []Tool{Claude, Codex} {
			t.Run(name+"/"+string(tool), func(t *testing.T) {
				t.Parallel()
				a := newAway(t, openProjects(t), fmt.Sprintf("0a0a0a0a-0000-4000-8000-00000000000%d", i), tool, rows...)
				ours := a.rows(a.id)
				a.export()
				a.requireSent(original(t, a.path), accept.RolesInARow) // Claude Code joins lines of the user
				a.back()
				require.Equal(t, ours, a.rows(a.id))
				a.goOn("one")
				a.back()
				require.Equal(t, []string{a.id}, a.all())
				require.True(t, strings.HasPrefix(a.rows(a.id), ours))
				require.Len(t, strings.Split(a.rows(a.id), "\n"), len(strings.Split(ours, "\n"))+2, a.rows(a.id))
				a.say("two")
				ours = a.rows(a.id)
				next, _ := a.exportWith(nil)
				a.requireSent(next, accept.RolesInARow)
				require.NoError(t, os.WriteFile(a.path, []byte(next), 0o600))
				a.back()
				require.Equal(t, ours, a.rows(a.id))
			})
		}
	}
}

// TestExportMendedRounds exports sessions that a provider would refuse, mended and as they are,
// while both sides go on, and brings them home: nothing is lost or there twice, what was here
// stays, and the provider takes what was exported last.
func TestExportMendedRounds(t *testing.T) {
	t.Parallel()
	bases := refusedRows(t)
	maps.Copy(bases, oddRows())
	names := slices.Sorted(maps.Keys(bases))
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+testenv.Share[uint64](20, 60, 1000); seed++ {
		random := rand.New(rand.NewPCG(seed, 65))
		name, tool := names[random.IntN(len(names))], []Tool{Claude, Codex}[random.IntN(2)]
		t.Run(fmt.Sprint(seed, " ", name, " ", tool), func(t *testing.T) {
			t.Parallel()
			a := newAway(t, openProjects(t), "0a0a0a0a-0000-4000-8000-000000000007", tool, bases[name]...)
			var said, steps []string
			a.export()
			for n := range 8 {
				ours, text := a.rows(a.id), fmt.Sprintf("turn%d", n)
				switch step := random.IntN(7); step {
				case 0, 1:
					steps = append(steps, "there "+text)
					said = append(said, text)
					a.goOn(text)
				case 2:
					steps = append(steps, "here "+text)
					said = append(said, text)
					a.say(text)
					ours = a.rows(a.id)
				case 3:
					steps = append(steps, "open")
					rows := a.rows(a.id) + calling("open"+text) + "\n"
					require.NoError(t, os.WriteFile(a.file("transcript.jsonl"), []byte(rows), 0o600))
					ours = rows
				case 4, 5:
					a.back()
					steps = append(steps, "home")
					if random.IntN(2) == 0 {
						break
					}
					fallthrough
				default:
					a.back()
					file, done := a.exportWith(&ExportOptions{AsItIs: step == 5})
					steps = append(steps, fmt.Sprint("export ", done.ID == a.thread(), step == 5))
					if done.ID != a.thread() { // a file of its own
						break
					}
					require.NoError(t, os.WriteFile(a.path, []byte(file), 0o600))
					before := a.rows(a.id)
					a.back()
					require.Equal(t, before, a.rows(a.id), steps)
				}
				require.True(t, strings.HasPrefix(a.rows(a.id), ours), "%s\n%s\n%s", steps, ours, a.rows(a.id))
			}
			a.back()
			everywhere := ""
			for _, id := range a.all() {
				rows := a.rows(id)
				everywhere += rows
				for _, text := range said {
					require.LessOrEqual(t, strings.Count(rows, text+" by the user"), 1, "%s %s", steps, id)
				}
			}
			for _, text := range said {
				require.Contains(t, everywhere, text+" by the user", steps)
				require.Contains(t, everywhere, text+" by the assistant", steps)
			}
		})
	}
}

// TestExportMendedForks has the tool fork an export that was mended: the fork comes home as one
// session more, and the session it is of stays as it is.
func TestExportMendedForks(t *testing.T) {
	t.Parallel()
	bases := refusedRows(t)
	maps.Copy(bases, oddRows())
	for name, rows := range bases {
		for _, tool := range []Tool{Claude, Codex} {
			t.Run(name+"/"+string(tool), func(t *testing.T) {
				t.Parallel()
				a := newAway(t, openProjects(t), "0a0a0a0a-0000-4000-8000-000000000008", tool, rows...)
				ours := a.rows(a.id)
				a.export()
				a.goOn("theirs")
				b := newAway(t, a.p, a.id, tool)
				b.home, b.n = a.home, 10
				const forked = "090fbfb7-d3a1-485b-b069-9a37fbb57ee4"
				b.path = strings.ReplaceAll(a.path, a.id, forked)
				copied := strings.ReplaceAll(original(t, a.path), `"sessionId":"`+a.id, `"sessionId":"`+forked)
				if tool == Codex { // without members that it does not know
					copied = `{"timestamp":"2026-11-25T01:00:00.000Z","type":"session_meta","payload":{"id":"` + forked + `","forked_from_id":"` + a.id + `","timestamp":"2026-11-25T01:00:00.000Z","cwd":"/w"}}` + "\n"
					for row := range strings.Lines(original(t, a.path)) {
						if row, _, marked := strings.Cut(row, `,"amplifier":`); marked {
							copied += row + "}\n"
						} else {
							copied += row
						}
					}
				}
				require.NoError(t, os.WriteFile(b.path, []byte(copied), 0o600))
				b.goOn("forked")
				b.back()
				fork := idOf(tool, forked)
				require.ElementsMatch(t, []string{a.id, fork}, a.all())
				require.True(t, strings.HasPrefix(a.rows(a.id), ours))
				require.NotContains(t, a.rows(a.id), "forked by")
				for _, id := range a.all() {
					require.Equal(t, 1, strings.Count(a.rows(id), "theirs by the user"), id)
				}
				require.Equal(t, 1, strings.Count(a.rows(fork), "forked by the user"))
				md, err := a.st.Metadata(t.Context(), fork)
				require.NoError(t, err)
				require.Equal(t, a.id, md.Text("parent_id"))
				b.goOn("more")
				b.back()
				require.Equal(t, 1, strings.Count(a.rows(fork), "more by the user"))
				require.ElementsMatch(t, []string{a.id, fork}, a.all())
			})
		}
	}
}

// TestExportMendedImported exports sessions whose fault is in lines of the tool itself: the tool's
// bytes stay, and the conversation of the file has other lines for what is changed. Then
// both go on, several times.
func TestExportMendedImported(t *testing.T) {
	t.Parallel()
	const id = "0a0a0a0a-0000-4000-8000-000000000009"
	bad := `{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "bm8gcGljdHVyZQ=="}}`
	for name, shown := range map[string]string{"a large picture": picture(t, 9000, 10), "no picture": bad} {
		for _, at := range []int{0, 1, 2} {
			for _, tool := range []Tool{Claude, Codex} {
				t.Run(fmt.Sprint(name, at, tool), func(t *testing.T) {
					t.Parallel()
					a := newAway(t, openProjects(t), "", tool)
					a.path = filepath.Join(a.home, "projects", "-w", id+".jsonl")
					if tool == Codex {
						a.path = filepath.Join(a.home, "sessions", "2026", "11", "25", "rollout-2026-11-25T00-00-00-"+id+".jsonl")
					}
					require.NoError(t, os.MkdirAll(filepath.Dir(a.path), 0o700))
					file := ""
					if tool == Codex {
						file = `{"timestamp":"2026-11-25T00:00:00.000Z","type":"session_meta","payload":{"id":"` + id + `","timestamp":"2026-11-25T00:00:00.000Z","cwd":"/w","originator":"codex_cli_rs","cli_version":"0.144.3"}}` + "\n"
					}
					require.NoError(t, os.WriteFile(a.path, []byte(file), 0o600))
					for n := range 3 {
						if n != at {
							a.goOn(fmt.Sprint("own", n))
							continue
						}
						lines, said := a.turn("own", a.leaf()), "own by the user"
						if tool == Claude {
							lines = strings.Replace(lines, `"content":"`+said+`"`, `"content":[{"type":"text","text":"`+said+`"},`+shown+`]`, 1)
						} else {
							data := regexp.MustCompile(`"data": "([^"]*)"`).FindStringSubmatch(shown)[1]
							lines = strings.Replace(lines, `"text":"`+said+`"}`, `"text":"`+said+`"},{"type":"input_image","image_url":"data:image/png;base64,`+data+`"}`, 1)
						}
						a.add(strings.ReplaceAll(lines, `"parentUuid":""`, `"parentUuid":null`))
					}
					require.NoError(t, os.WriteFile(a.path, []byte(strings.ReplaceAll(original(t, a.path), `"parentUuid":""`, `"parentUuid":null`)), 0o600))
					theirs := original(t, a.path)
					a.id = a.back()[0].ID
					a.st = a.storeOf(a.id)
					ours := a.rows(a.id)
					refused := accepted(t, a) > 0
					require.Equal(t, name == "no picture" || tool == Claude, refused, "Codex makes pictures smaller itself")
					for n := range 3 {
						all := a.all()
						file, done := a.exportWith(nil)
						require.Equal(t, refused, len(done.Changes) > 0)
						require.True(t, strings.HasPrefix(file, theirs))
						again, _ := a.exportWith(&ExportOptions{AsItIs: true})
						require.True(t, strings.HasPrefix(again, theirs))
						fresh := newAway(t, openProjects(t), "", tool) // what the tool resumes
						fresh.path = filepath.Join(fresh.home, strings.TrimPrefix(a.path, a.home))
						require.NoError(t, os.MkdirAll(filepath.Dir(fresh.path), 0o700))
						require.NoError(t, os.WriteFile(fresh.path, []byte(file), 0o600))
						fresh.id = fresh.back()[0].ID
						fresh.st = fresh.storeOf(fresh.id)
						require.Zero(t, accepted(t, fresh), fresh.rows(fresh.id))
						require.Equal(t, strings.Count(ours, "\n"), strings.Count(fresh.rows(fresh.id), "\n"))

						require.NoError(t, os.WriteFile(a.path, []byte(file), 0o600))
						a.back()
						require.Equal(t, ours, a.rows(a.id))
						require.Equal(t, all, a.all())
						a.goOn(fmt.Sprint("there", n))
						a.back()
						require.True(t, strings.HasPrefix(a.rows(a.id), ours))
						require.Equal(t, 1, strings.Count(a.rows(a.id), fmt.Sprintf("there%d by the user", n)))
						require.Equal(t, all, a.all())
						theirs = original(t, a.path)
						if n == 1 {
							a.say("here")
						}
						ours = a.rows(a.id)
					}
				})
			}
		}
	}
}

// storeOf returns the store that has a session.
func (a *away) storeOf(id string) *sessionstore.Store {
	slug, err := projectWith(a.p, id)
	require.NoError(a.t, err)
	st, err := a.p.Store(slug)
	require.NoError(a.t, err)
	return st
}
