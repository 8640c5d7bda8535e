package foreign

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/claude"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// texts returns what the messages of a session say, in order.
func texts(t testing.TB, st *sessionstore.Store, id string) (all []string) {
	t.Helper()
	for _, m := range healthy(t, st, id) {
		all = append(all, m.Content())
	}
	return all
}

// turns returns a history of Claude Code with turns that have a text each, the one behind
// the other. The uuid of a record tells its place alone.
func turns(said ...string) string {
	var b strings.Builder
	b.WriteString(many("g", len(said)))
	text := b.String()
	for i, s := range said {
		for _, kind := range []string{"user", "assistant"} {
			text = strings.Replace(text, `"`+kind+`","content":"text `+string(rune('0'+i))+`"`, `"`+kind+`","content":"`+s+" "+kind+`"`, 1)
		}
	}
	return text
}

func bothOf(turns ...string) (all []string) {
	for _, s := range turns {
		all = append(all, s+" user", s+" assistant")
	}
	return all
}

// TestFileShrinks imports a file again that has less than before: the session stays as
// it is, and so does what it keeps of the file.
func TestFileShrinks(t *testing.T) {
	t.Parallel()
	whole := turns("a", "b", "c")
	for name, less := range map[string]string{
		"a turn is gone":     turns("a", "b"),
		"a line is cut":      whole[:len(whole)-30],
		"the file is empty":  "",
		"the start is gone":  whole[strings.Index(whole, "\n")+1:],
		"a record is gone":   strings.SplitAfter(whole, "\n")[0] + strings.Join(strings.SplitAfter(whole, "\n")[2:], ""),
		"nothing is changed": whole,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGrowing(t)
			g.write(whole)
			id := g.run(nil)[0].ID
			before := tree(t, g.p.Dir())
			g.write(less)
			require.Equal(t, []Imported{{id, Conversation, Unchanged, 0}}, g.run(nil))
			require.Equal(t, before, tree(t, g.p.Dir()))

			g.say(id, "ours", "answer") // also where ours went on
			require.Equal(t, []Imported{{id, Conversation, Unchanged, 0}}, g.run(nil))
			require.Equal(t, whole, unpacked(t, g.st, id))
			require.Equal(t, 1, g.sessions())
		})
	}
}

// TestFileIsAnotherOne imports a file again that lost turns and went on: the session keeps
// what it had, and what the file has becomes a fork, which names the session.
func TestFileIsAnotherOne(t *testing.T) {
	t.Parallel()
	for name, other := range map[string][]string{
		"cut and gone on":          {"a", "x"},
		"only a new turn":          {"x"},
		"as long with another end": {"a", "b", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGrowing(t)
			g.write(turns("a", "b", "c"))
			id := g.run(nil)[0].ID
			g.write(turns(other...))
			lost := 0
			for i, s := range []string{"a", "b", "c"} {
				if i >= len(other) || other[i] != s {
					lost++
				}
			}
			dry, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, &Options{DryRun: true})
			require.NoError(t, err)
			report, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
			require.NoError(t, err)
			require.Equal(t, report.Sessions, dry.Sessions)
			require.Len(t, report.Sessions, 1)
			fork := report.Sessions[0].ID
			require.Equal(t, Imported{fork, Diverged, Created, 2 * len(other)}, report.Sessions[0])
			require.Equal(t, map[Tool]string{Claude: fork}, Apart(g.st, id))
			require.Equal(t, bothOf("a", "b", "c"), texts(t, g.st, id))
			require.Equal(t, bothOf(other...), texts(t, g.st, fork))
			require.Equal(t, turns("a", "b", "c"), unpacked(t, g.st, id))
			require.Equal(t, turns(other...), unpacked(t, g.st, fork))
			md, err := g.st.Metadata(t.Context(), fork)
			require.NoError(t, err)
			require.Equal(t, id, md.Text("parent_id"))
			shared, _ := md.Int("forked_from_turn")
			require.Equal(t, 3-lost, shared)
			require.Contains(t, md.Text("name"), "went on in the other tool")

			before := tree(t, g.p.Dir())
			require.Equal(t, []Imported{{fork, Diverged, Unchanged, 0}}, g.run(nil))
			require.Equal(t, before, tree(t, g.p.Dir()))

			g.write(turns(append(other, "more")...)) // the tool goes on
			require.Equal(t, []Imported{{fork, Diverged, Updated, 2*len(other) + 2}}, g.run(nil))
			require.Equal(t, bothOf("a", "b", "c"), texts(t, g.st, id))
		})
	}
}

// TestFileComesBack imports an earlier state of the file, which a tool that copies files
// may put back again and again: no state makes a second fork.
func TestFileComesBack(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	for range 3 {
		for _, s := range []string{"b", "x"} {
			g.write(turns("a", s))
			require.Equal(t, bothOf("a", s), texts(t, g.st, g.run(nil)[0].ID))
		}
	}
	require.Equal(t, 2, g.sessions())
}

// TestBothSidesDiffer has a session that went on here, and a file that lost turns and
// went on: the session stays, and the tool's side becomes a fork.
func TestBothSidesDiffer(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(turns("a", "b"))
	id := g.run(nil)[0].ID
	g.say(id, "ours", "answer")
	g.write(turns("a", "x"))
	made := g.run(nil)
	require.Equal(t, Diverged, made[0].Kind)
	require.Equal(t, append(bothOf("a", "b"), "ours", "answer"), texts(t, g.st, id))
	require.Equal(t, turns("a", "b"), unpacked(t, g.st, id))
	require.Equal(t, bothOf("a", "x"), texts(t, g.st, made[0].ID))

	g.write(turns("a", "y")) // the tool's side is lost, too
	made = g.run(nil)
	require.Equal(t, []Imported{{made[0].ID, Diverged, Created, 4}}, made)
	require.Equal(t, bothOf("a", "y"), texts(t, g.st, made[0].ID))
	require.Equal(t, map[Tool]string{Claude: made[0].ID}, Apart(g.st, id))
	require.Equal(t, 3, g.sessions())
	require.Equal(t, append(bothOf("a", "b"), "ours", "answer"), texts(t, g.st, id))
}

// TestTurnsTakenBack has records in the file that are on no line any more which becomes a
// session: the second answer to a prompt hides the first.
func TestTurnsTakenBack(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(turns("a", "b"))
	id := g.run(nil)[0].ID
	g.write(turns("a", "b") + `{"type":"assistant","uuid":"again","parentUuid":"g-user-1","timestamp":"2026-03-04T11:00:00.000Z","message":{"id":"again","content":[{"type":"text","text":"another answer"}]}}` + "\n")
	made := g.run(nil)
	require.Equal(t, []Imported{{made[0].ID, Diverged, Created, 4}}, made)
	require.Equal(t, []string{"a user", "a assistant", "b user", "another answer"}, texts(t, g.st, made[0].ID))
	require.Equal(t, bothOf("a", "b"), texts(t, g.st, id))
	before := tree(t, g.p.Dir())
	require.Equal(t, []Imported{{made[0].ID, Diverged, Unchanged, 0}}, g.run(nil))
	require.Equal(t, before, tree(t, g.p.Dir()))
}

// TestCountedOnce counts the lines of a file once, also where both sides went on.
func TestCountedOnce(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	line := `{"type":"mode","mode":"normal"}` + "\n"
	g.write(turns("a") + line)
	id := g.run(nil)[0].ID
	g.say(id, "ours", "answer")
	g.write(turns("a", "b") + line)
	report, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
	require.NoError(t, err)
	require.Equal(t, Diverged, report.Sessions[0].Kind)
	require.Equal(t, map[string]int{"not part of the conversation": 1}, report.Left)
}

// TestParentIsMissing links records whose parent is in no file to the record before.
func TestParentIsMissing(t *testing.T) {
	t.Parallel()
	record := func(uuid, parent, kind, said string) string {
		return `{"type":"` + kind + `","uuid":"` + uuid + `","parentUuid":"` + parent + `","message":{"id":"` + uuid + `","content":"` + said + `"}}` + "\n"
	}
	hidden := `{"type":"system","subtype":"compact_boundary","uuid":"cut","parentUuid":null,"logicalParentUuid":"gone"}` + "\n" +
		`{"type":"user","uuid":"sum","parentUuid":"cut","isCompactSummary":true,"message":{"content":"summary"}}` + "\n"
	one := record("1", "", "user", "first") + record("2", "1", "assistant", "one")
	two := record("3", "gone", "user", "second") + record("4", "3", "assistant", "two")
	damaged := `{"type":"user","uuid":` + "\n"
	side := func(uuid string) string {
		return strings.ReplaceAll(record(uuid, "", "user", "for a sub-agent"), `"type"`, `"isSidechain":true,"type"`)
	}
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"of a prompt":                {one + two, []string{"first", "one", "second", "two"}},
		"behind a compaction":        {one + hidden + record("3", "sum", "user", "second") + record("4", "3", "assistant", "two"), []string{"first", "one", "second", "two"}},
		"across a damaged line":      {one + damaged + two, []string{"second", "two"}},
		"of what the record follows": {record("2", "3", "assistant", "one") + two, []string{"second", "two"}},
		"in another file of the run": {one + strings.ReplaceAll(two, "gone", "there"), []string{"second", "two"}},
		"that is told as no record":  {one + strings.ReplaceAll(two, "gone", "nowhere"), []string{"first", "one", "second", "two"}},
		"in a copy beside":           {one + strings.ReplaceAll(two, "gone", "copied"), []string{"first", "one", "second", "two"}},
		"in a copy, of a compaction": {one + strings.ReplaceAll(hidden, "gone", "copied") + record("3", "sum", "user", "second") + record("4", "3", "assistant", "two"), []string{"first", "one", "second", "two"}},
		"in a question beside":       {one + strings.ReplaceAll(two, "gone", "asked"), []string{"first", "one", "second", "two"}},
		"in a sub-agent's file":      {one + strings.ReplaceAll(two, "gone", "worked"), []string{"first", "one", "second", "two"}},
		"in a folder of sub-agents":  {one + strings.ReplaceAll(two, "gone", "deeper"), []string{"first", "one", "second", "two"}},
		"in an old sub-agent's file": {one + strings.ReplaceAll(two, "gone", "older"), []string{"first", "one", "second", "two"}},
		"in a sidechain elsewhere":   {one + strings.ReplaceAll(two, "gone", "aside"), []string{"first", "one", "second", "two"}},
		"in a sidechain here":        {one + side("inside") + strings.ReplaceAll(hidden, "gone", "inside") + record("3", "sum", "user", "second") + record("4", "3", "assistant", "two"), []string{"first", "one", "second", "two"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			folder := filepath.Join(home, "projects", "-w")
			require.NoError(t, os.MkdirAll(folder, 0o700))
			for name, text := range map[string]string{
				"a.jsonl":                            c.file,
				"b.jsonl":                            record("there", "", "user", "elsewhere") + side("aside") + `{"type":"x","note":"nowhere"}` + "\n",
				"a/subagents/agent-acompact-1.jsonl": one + record("copied", "2", "assistant", "the summary"),
				"a/subagents/agent-aside_question-1.jsonl": one + record("asked", "2", "user", "what?"),
				"a/subagents/agent-1.jsonl":                record("worked", "", "user", "task"),
				"a/subagents/x/agent-2.jsonl":              record("deeper", "", "user", "task"),
				"agent-3.jsonl":                            strings.Replace(record("older", "", "user", "task"), "{", `{"sessionId":"a",`, 1),
			} {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
			}
			all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
			require.NoError(t, err)
			p := openProjects(t)
			report, err := Import(t.Context(), p, all[0], &Options{Project: "-w"})
			require.NoError(t, err)
			st, err := p.Store("-w")
			require.NoError(t, err)
			require.Equal(t, c.want, texts(t, st, report.Sessions[0].ID))
			h, leave := openOriginal(t.Context(), filepath.Join(st.Dir(), report.Sessions[0].ID, "import"), claude.Tool{}, state{Tool: string(Claude)})
			defer leave()
			h.Table.SetScope(thread.WholeLine)
			require.Len(t, h.Line(thread.WholeLine), len(h.Table.Conversation(h.Table.Leaves(nil)[0], thread.WholeLine)), "what is kept is read as the file was")
		})
	}
}

// TestTakenBackPrompts makes no fork of prompts that got no answer, and names them.
func TestTakenBackPrompts(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(turns("a"))
	id := g.run(nil)[0].ID
	prompt := func(uuid, said string) string {
		return `{"type":"user","uuid":"` + uuid + `","parentUuid":"g-assistant-0","timestamp":"2026-03-04T12:00:00.000Z","message":{"content":"` + said + `"}}` + "\n"
	}
	g.write(turns("a") + prompt("1", "please biuld"))
	g.run(nil)
	require.Equal(t, append(bothOf("a"), "please biuld"), texts(t, g.st, id)[:3])
	g.write(turns("a") + prompt("1", "please biuld") + prompt("2", "please build") +
		`{"type":"assistant","uuid":"3","parentUuid":"2","timestamp":"2026-03-04T12:00:01.000Z","message":{"id":"3","content":"built"}}` + "\n")
	report, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
	require.NoError(t, err)
	require.Equal(t, []Imported{{id, Conversation, Updated, 4}}, report.Sessions)
	require.Equal(t, []string{"line 3: the prompt has no answer: it is kept in the original alone"}, why(report.Unplaced))
	require.Equal(t, append(bothOf("a"), "please build", "built"), texts(t, g.st, id))
	require.Contains(t, unpacked(t, g.st, id), "please biuld")
}

// TestLossIsRefused makes no change where the fork cannot be made.
func TestLossIsRefused(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(turns("a", "b"))
	id := g.run(nil)[0].ID
	fork := divergedID("claude", id, 1)
	require.NoError(t, os.WriteFile(filepath.Join(g.st.Dir(), fork), nil, 0o600)) // a file stands in its place
	g.write(turns("a", "x"))
	before := tree(t, g.p.Dir())
	_, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
	require.Error(t, err)
	require.False(t, errors.Is(err, ErrEmpty))
	require.Equal(t, before, tree(t, g.p.Dir()))
}

// TestLossWithoutOriginal imports a file again that lost turns, where what was kept of it
// is gone or damaged: what the file has becomes a fork all the same.
func TestLossWithoutOriginal(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"it is gone":     os.Remove,
		"it is empty":    func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"it is no frame": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", 99)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGrowing(t)
			g.write(turns("a", "b", "c"))
			id := g.run(nil)[0].ID
			for _, file := range []string{originalFile, mapFile} {
				require.NoError(t, damage(filepath.Join(g.st.Dir(), id, importFolder, file)))
			}
			g.write(turns("a", "x"))
			done := g.run(nil)
			require.Equal(t, []Imported{{done[0].ID, Diverged, Created, 4}}, done)
			require.Equal(t, bothOf("a", "b", "c"), texts(t, g.st, id))
			require.Equal(t, bothOf("a", "x"), texts(t, g.st, done[0].ID))
			require.Equal(t, []Imported{{done[0].ID, Diverged, Unchanged, 0}}, g.run(nil))
		})
	}
}

// TestOrphanInTwoFolders has a sub-agent whose session is gone in two folders, where it
// went on in two ways: the longer file counts, and of files of one length the first. The
// second import changes nothing.
func TestOrphanInTwoFolders(t *testing.T) {
	t.Parallel()
	home, p := t.TempDir(), openProjects(t)
	for name, said := range map[string][]string{"-w": {"a", "b"}, "-w-x": {"a", "c"}} {
		dir := filepath.Join(home, "projects", name, "gone", "subagents")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "agent-1.jsonl"), []byte(turns(said...)), 0o600))
	}
	var before map[string]string
	for range 2 {
		all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
		require.NoError(t, err)
		require.Len(t, all, 1)
		report, err := Import(t.Context(), p, all[0], nil)
		require.NoError(t, err)
		st, err := p.Store(report.Project)
		require.NoError(t, err)
		require.Equal(t, 4, len(texts(t, st, report.Sessions[0].ID)))
		require.Equal(t, turns("a", "c"), unpacked(t, st, report.Sessions[0].ID))
		require.Equal(t, []string{filepath.Join(home, "projects", "-w", "gone", "subagents", "agent-1.jsonl")}, report.Shorter)
		if before != nil {
			require.Equal(t, before, tree(t, p.Dir()))
		}
		before = tree(t, p.Dir())
	}
}

// TestSideQuestionWithoutOriginal imports a question beside the conversation again, where
// what was kept of its file is gone.
func TestSideQuestionWithoutOriginal(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(turns("a"))
	aside := filepath.Join(filepath.Dir(g.path), "agent-aside_question-1.jsonl")
	write := func(said ...string) {
		require.NoError(t, os.WriteFile(aside, []byte(turns(append([]string{"a"}, said...)...)), 0o600))
	}
	run := func() []Imported {
		report, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w", Agents: []string{aside}}, nil)
		require.NoError(t, err)
		return report.Sessions
	}
	write("b")
	id := run()[1].ID
	require.NoError(t, os.Remove(filepath.Join(g.st.Dir(), id, importFolder, originalFile)))
	write("b", "c")
	require.Equal(t, Imported{id, Agent, Updated, 4}, run()[1])
	require.Equal(t, bothOf("b", "c"), texts(t, g.st, id))
}

// TestSideQuestionInCircle has a question beside the conversation whose records follow each
// other in a circle: it makes no session, and the report names its prompts.
func TestSideQuestionInCircle(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(turns("a"))
	aside := filepath.Join(filepath.Dir(g.path), "agent-aside_question-1.jsonl")
	line := func(id, parent string) string {
		return `{"type":"user","uuid":"` + id + `","parentUuid":"` + parent + `","timestamp":"2026-03-04T12:00:00.000Z","message":{"role":"user","content":"` + id + `"}}` + "\n"
	}
	require.NoError(t, os.WriteFile(aside, []byte(line("x", "y")+line("y", "x")), 0o600))
	report, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w", Agents: []string{aside}}, nil)
	require.NoError(t, err)
	require.Len(t, report.Sessions, 1)
	circle := "read " + aside + ": the prompt is on no branch: its lines follow each other in a circle"
	require.Equal(t, []string{"line 1: " + circle, "line 2: " + circle}, why(report.Unplaced))
}
