package foreign_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// scene is a run whose files a test writes itself. Each import of it is held to the rule
// of TestAccidents.
type scene struct {
	*running
	t *testing.T
}

func newScene(t *testing.T) *scene {
	r := newRunning(t.Context(), t.TempDir(), nil, 0)
	t.Cleanup(func() { must(r.p.Close()) })
	return &scene{r, t}
}

// write writes a file of a tool, with words.
func (s *scene) write(name, content string) {
	s.home.put(name, strings.Join(s.words.mark(toolOf(name), "scene", content), ""))
}

// imports imports all, and returns the sessions that the reports name, each as its kind
// and what it says, in order.
func (s *scene) imports() []string {
	s.t.Helper()
	if failed := s.running.imports(); failed != nil {
		s.t.Fatalf("%v\n\t%s", failed, strings.Join(s.story, "\n\t"))
	}
	reports, err := s.importAll(s.p)
	require.NoError(s.t, err)
	var all []string
	for _, report := range reports {
		st, err := s.p.Store(report.Project)
		require.NoError(s.t, err)
		for _, made := range report.Sessions {
			said := []string{string(made.Kind) + ":"}
			for m, err := range st.Messages(s.t.Context(), made.ID) {
				require.NoError(s.t, err)
				if m.Role() != "tool" && !strings.HasPrefix(m.Content(), "[The imported history has no") {
					said = append(said, strings.Fields(wordPattern.ReplaceAllString(m.Content(), ""))...)
				}
			}
			all = append(all, strings.Join(said, " "))
		}
	}
	slices.Sort(all)
	return all
}

const claudeFile = "claude/" + site + sid + ".jsonl"

// TestBranchOfAgent has sub-agents that went back and on from there: in the file of their
// session, in a file of their own, and in one whose session is gone. What was said on each
// branch is in a fork, as in a session.
func TestBranchOfAgent(t *testing.T) {
	t.Parallel()
	branched := func(n int, said string) []row {
		return agentOf("a1", slices.Concat(
			[]row{rec(n, 0, "user", "task", 1), rec(n+1, n, "assistant", says("done"), 2)},
			turnsOf(n+10, n+1, 3, said+"1", said+"2"), turnsOf(n+20, n+11, 10, said+"3"),
			[]row{rec(n+30, n+11, "user", said+"4", 15)}, turnsOf(n+40, n+1, 20, said+"5"))...)
	}
	main := []row{rec(1, 0, "user", "ask", 0), rec(2, 1, "assistant", says("asked"), 30)}
	below := "claude/" + site + sid + "/subagents/agent-a1.jsonl"
	wantOf := func(said string) []string {
		said1, more := said+"1 re "+said+"1 ", said
		return []string{
			"agent: task done " + said + "5 re " + said + "5",
			"branch: task done " + said1 + more + "2 re " + said + "2",
			"branch: task done " + said1 + more + "3 re " + said + "3",
			"branch: task done " + said1 + more + "4",
		}
	}
	for name, c := range map[string]struct {
		files map[string][]row
		want  []string
	}{
		"in the file of the session": {map[string][]row{claudeFile: slices.Concat(main, branched(100, "q"))}, append(wantOf("q"), "conversation: ask asked")},
		"two in it, of which one says the same": {
			map[string][]row{claudeFile: slices.Concat(main[:1], branched(100, "q"), branched(200, "q"), main[1:])},
			append(slices.Concat(wantOf("q"), wantOf("q")), "conversation: ask asked"),
		},
		"alone in it":           {map[string][]row{claudeFile: branched(100, "q")}, wantOf("q")},
		"in its own file":       {map[string][]row{claudeFile: main, below: branched(100, "q")}, append(wantOf("q"), "conversation: ask asked")},
		"whose session is gone": {map[string][]row{below: branched(100, "q")}, wantOf("q")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slices.Sort(c.want)
			s := newScene(t)
			for file, rows := range c.files {
				s.write(file, text1(rows...))
			}
			require.Equal(t, c.want, s.imports())

			again := newScene(t) // each line is a state of the file in which it is imported
			for n := 1; n < 40; n++ {
				for file, rows := range c.files {
					again.write(file, text1(rows[:min(n, len(rows))]...))
				}
				again.imports()
			}
			require.Equal(t, c.want, again.imports())
		})
	}
}

// turnsOf returns turns of Claude Code that ask something each, from record at on.
func turnsOf(at, parent, s int, said ...string) (all []row) {
	for i, q := range said {
		all = append(all, rec(at+2*i, parent, "user", q, s+2*i), rec(at+2*i+1, at+2*i, "assistant", says("re "+q), s+2*i+1))
		parent = at + 2*i + 1
	}
	return all
}

// TestBranchInsideResponse has a session that went back into the midst of a response, and
// prompts without an answer behind the end of that. The conversation has all calls of the
// response, so they are no answer for a fork. A text that it does not have is one.
func TestBranchInsideResponse(t *testing.T) {
	t.Parallel()
	part := func(n, parent, s int, content any) row {
		r := rec(n, parent, "assistant", content, s)
		r["message"].(row)["id"] = "msg"
		return r
	}
	left := []row{rec(5, 4, "user", "left", 4), rec(6, 5, "user", "more", 5)}
	for name, c := range map[string]struct {
		end  []row
		want []string
	}{
		"calls":                {append([]row{part(3, 2, 2, calls(1)), rec(4, 3, "user", results(1), 3)}, left...), nil},
		"a text":               {append([]row{part(3, 2, 2, says("ok")), part(4, 3, 3, calls(1))}, left...), []string{"branch: ask well ok left more"}},
		"an answer of its own": {append(append([]row{part(4, 2, 2, calls(1))}, left...), rec(7, 6, "assistant", says("yes"), 6)), []string{"branch: ask well left more yes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.write(claudeFile, text1(slices.Concat([]row{rec(1, 0, "user", "ask", 0), part(2, 1, 1, says("well"))}, c.end, turnsOf(10, 2, 10, "other"))...))
			require.Equal(t, append(c.want, "conversation: ask well other re other"), s.imports())
		})
	}
}

// TestGoesOnFromAgent has a conversation that goes on from records of a sub-agent in its
// file, which went on here. The prompt that left the conversation has no answer there.
func TestGoesOnFromAgent(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	rows := append(turnsOf(1, 0, 0, "ask"), agentOf("a1", rec(10, 0, "user", "task", 1))...)
	s.write(claudeFile, text1(rows...))
	require.Equal(t, []string{"agent: task", "conversation: ask re ask"}, s.imports())
	require.Nil(t, s.say(step{})) // in the sub-agent, whose id is the first
	rows = slices.Concat(rows, agentOf("a1", rec(11, 10, "assistant", says("done"), 2)), []row{rec(20, 11, "user", "left", 10)}, turnsOf(30, 10, 20, "other"))
	s.write(claudeFile, text1(rows...))
	require.Equal(t, []string{"branch: ask re ask", "branch: task done left", "conversation: task other re other", "diverged: task done"}, s.imports())
}

// TestKilledBeforeFileShrinks has an import that is killed before one of its operations, in
// the soak before each, and then a file that has no more than before that import, as where the tool's newer copy
// of it is removed: what the import brought to a session stays.
func TestKilledBeforeFileShrinks(t *testing.T) {
	t.Parallel()
	const copied = "claude/projects/-home-ana-other/" + sid + ".jsonl"
	first := turnsOf(1, 0, 0, "one", "two")
	for name, c := range map[string]struct {
		file string
		more []row
	}{
		"the file is cut":     {claudeFile, append(slices.Clone(first), turnsOf(20, 4, 20, "three")...)},
		"the copy is removed": {copied, append(slices.Clone(first[:2]), turnsOf(20, 2, 20, "three")...)},
		"the branch is cut":   {claudeFile, append(slices.Clone(first), turnsOf(20, 2, 20, "three")...)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := testenv.Rand(t)
			for n, whole := 1, false; !whole; n += 1 + r.IntN(testenv.Share(5, 5, 1)) {
				s := newScene(t)
				s.write(claudeFile, text1(first...))
				s.imports()
				s.write(c.file, text1(c.more...))
				failed := s.killed(n)
				require.Nil(t, failed, "operation %d", n)
				whole = !s.wasKilled
				s.write(claudeFile, text1(first...))
				if c.file == copied {
					s.home.do(step{what: "remove", a: 0})
				}
				s.imports()
			}
		})
	}
}

// TestKilledBeforeCut has an import that is killed, and a file that is cut then: a prompt
// whose answer no import took may stand in the original alone.
func TestKilledBeforeCut(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	rows := turnsOf(1, 0, 0, "one")
	s.write(claudeFile, text1(rows...))
	require.Nil(t, s.killed(1))
	s.write(claudeFile, text1(rows[:1]...))
	require.Equal(t, []string{"conversation: one"}, s.imports())
	s.write(claudeFile, text1(append(rows[:1], turnsOf(20, 0, 20, "two")...)...))
	require.Equal(t, []string{"conversation: two re two"}, s.imports())
}

// TestCopiesPart has a session in two folders whose shorter file becomes the longer one, and goes
// on otherwise: the session stays, and what the file has is in one fork.
func TestCopiesPart(t *testing.T) {
	t.Parallel()
	const copied = "claude/projects/-home-ana-other/" + sid + ".jsonl"
	s := newScene(t)
	s.write(claudeFile, text1(turnsOf(1, 0, 0, "one", "two")...))
	s.write(copied, text1(turnsOf(1, 0, 0, "one")...))
	s.imports()
	s.write(copied, text1(append(turnsOf(1, 0, 0, "one"), turnsOf(20, 2, 20, "three", "four")...)...))
	require.Equal(t, []string{"diverged: one re one three re three four re four"}, s.imports())
	require.Len(t, s.was, 2)
}

// TestPromptIsTakenBack has a prompt without an answer in a session that goes back behind
// it. Another session of the tool, or what the session was before, has an answer to it:
// that stays, and no fork is made of the prompt.
func TestPromptIsTakenBack(t *testing.T) {
	t.Parallel()
	const copied = "claude/" + site + "22222222-1111-4111-8111-111111111111.jsonl"
	rows := append(turnsOf(1, 0, 0, "one"), rec(3, 2, "user", "two", 2))
	answered := append(slices.Clone(rows), rec(4, 3, "assistant", says("re two"), 3))
	other := turnsOf(20, 2, 20, "three")

	t.Run("another session has its answer", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		s.write(claudeFile, text1(rows...))
		s.write(copied, strings.ReplaceAll(text1(answered...), sid, path.Base(copied)[:36]))
		require.Equal(t, []string{"conversation: one re one two", "conversation: one re one two re two"}, s.imports())
		s.home.do(step{what: "remove", a: 1})
		s.write(claudeFile, text1(append(slices.Clone(rows), other...)...))
		require.Equal(t, []string{"conversation: one re one three re three"}, s.imports())
	})
	t.Run("a former state has its answer", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		s.write(claudeFile, text1(answered...))
		require.Equal(t, []string{"conversation: one re one two re two"}, s.imports())
		rows := append(slices.Clone(rows), rec(5, 3, "user", "wait", 10))
		s.write(claudeFile, text1(rows...))
		require.Equal(t, []string{"diverged: one re one two wait"}, s.imports())
		s.write(claudeFile, text1(append(rows, other...)...))
		require.Equal(t, []string{"diverged: one re one three re three"}, s.imports())
		require.Len(t, s.was, 2)
	})
}
