package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
)

// TestUsage adds up what the corpus used: it is what the files tell, each response
// once over forks and sub-agents, without what a fork copied.
func TestUsage(t *testing.T) {
	t.Parallel()
	p, want := openProjects(t), eventslog.Usage{}
	for _, h := range corpus(t) {
		ctx, counted := counting(t)
		_, err := Import(ctx, p, h, nil)
		if err != nil {
			require.ErrorIs(t, err, ErrEmpty)
		}
		for _, c := range *counted {
			for _, n := range []struct {
				to   *int64
				from *int64
			}{{&want.Input, c.Usage.Input}, {&want.Output, c.Usage.Output}, {&want.CacheRead, c.Usage.CacheRead}, {&want.CacheWrite, c.Usage.CacheWrite}} {
				if n.from != nil {
					*n.to += *n.from
				}
			}
			if c.Tool != string(Codex) && c.Usage.CacheRead != nil {
				want.Input += *c.Usage.CacheRead
			}
		}
	}
	got := eventslog.Usage{}
	for u, err := range Usage(t.Context(), p, projects.Query{}) {
		require.NoError(t, err)
		require.NotEmpty(t, u.Model)
		require.False(t, u.At.IsZero())
		require.NoError(t, got.Add(u.Usage))
	}
	copied := [4]int64{400 + 175 + 600, 35 + 21, 25 + 30, 15} // the fork 019cb8a0-0005 has 400 from its origin, pi's fork five responses, Copilot's three
	require.Equal(t, [4]int64{want.Input - copied[0], want.Output - copied[1], want.CacheRead - copied[2], want.CacheWrite - copied[3]}, [4]int64{got.Input, got.Output, got.CacheRead, got.CacheWrite})
}

// TestUsageOfBranches imports a history with a fork, whose responses count once, and
// one that begins with a copy of it.
func TestUsageOfBranches(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	spent := `"usage":{"input_tokens":7},"content"`
	rows := strings.ReplaceAll(compaction(strings.ReplaceAll(laterTurn, `"parentUuid":"6"`, `"parentUuid":"2"`)), `"content":[`, spent+":[")
	g.write(rows)
	require.Len(t, g.run(nil), 2)
	sum := func() (n int64) {
		for u, err := range Usage(t.Context(), g.p, projects.Query{}) {
			require.NoError(t, err)
			n += u.Input
		}
		return n
	}
	require.Equal(t, int64(3*7), sum())
	g.write(strings.ReplaceAll(rows, `"type":"assistant"`, `"type":"assistant","forkedFrom":{"sessionId":"g"}`))
	_, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "copy", Path: g.path, Dir: "/w"}, nil)
	require.NoError(t, err)
	require.Equal(t, int64(3*7), sum())
}

// TestUsageOfResumed imports a history that was resumed into a new file, which begins
// with the lines of the old one. What these used counts once, with whichever of both
// is there.
func TestUsageOfResumed(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	line := func(session, id, parent string) string {
		return `{"type":"user","uuid":"u` + id + `","parentUuid":` + parent + `,"sessionId":"` + session + `","cwd":"/w","message":{"content":"go ` + id + `"}}` + "\n" +
			`{"type":"assistant","uuid":"a` + id + `","parentUuid":"u` + id + `","sessionId":"` + session + `","message":{"id":"m` + id + `","model":"m","content":[{"type":"text","text":"fine"}],"usage":{"input_tokens":7}}}` + "\n"
	}
	old := line("old", "1", "null") + line("old", "2", `"a1"`)
	run := func(id, history string) (n int64) {
		g.write(history)
		_, err := Import(t.Context(), g.p, History{Tool: Claude, ID: id, Path: g.path, Dir: "/w"}, nil)
		require.NoError(t, err)
		for u, err := range Usage(t.Context(), g.p, projects.Query{}) {
			require.NoError(t, err)
			n += u.Input
		}
		return n
	}
	require.Equal(t, int64(3*7), run("new", old+line("new", "3", `"a2"`)))
	require.Equal(t, int64(3*7), run("old", old))
	require.Equal(t, int64(4*7), run("old", old+line("old", "4", `"a2"`)))
}

// TestUsageOfDiverged has a session that went on here and in its tool: what the tool's
// side used since counts, too, and what both have counts once.
func TestUsageOfDiverged(t *testing.T) {
	t.Parallel()
	sum := func(p *projects.Projects) (all eventslog.Usage) {
		for u, err := range Usage(t.Context(), p, projects.Query{}) {
			require.NoError(t, err)
			require.NoError(t, all.Add(u.Usage))
		}
		return all
	}
	g := newGrowing(t)
	history := func(n int) string {
		return strings.ReplaceAll(many("g", n), `"role":"assistant"`, `"model":"m","usage":{"input_tokens":7},"role":"assistant"`)
	}
	g.write(history(2))
	id := g.run(nil)[0].ID
	g.say(id, "ours", "answer")
	g.write(history(3))
	require.Equal(t, Diverged, g.run(nil)[0].Kind)
	require.Equal(t, int64(3*7), sum(g.p).Input)
	require.NoError(t, g.st.Delete(t.Context(), id))
	require.Equal(t, int64(3*7), sum(g.p).Input)

	c := newGrowing(t)
	turn := func(n int) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-04T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go %d"}]}}
{"timestamp":"2026-03-04T10:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"fine"}]}}
{"timestamp":"2026-03-04T10:00:03.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"output_tokens":1,"total_tokens":%d}}}}
`, n, 7*n, 7*n+1)
	}
	run := func(text string) Imported {
		c.write(`{"timestamp":"2026-03-04T10:00:00.000Z","type":"session_meta","payload":{"id":"c","cwd":"/w"}}` + "\n" + text)
		report, err := Import(t.Context(), c.p, History{Tool: Codex, ID: "c", Path: c.path, Dir: "/w"}, nil)
		require.NoError(t, err)
		return report.Sessions[0]
	}
	c.say(run(turn(1)).ID, "ours", "answer")
	require.Equal(t, Diverged, run(turn(1)+turn(2)).Kind)
	require.Equal(t, int64(2*7), sum(c.p).Input)
}

// TestUsageOfCopies imports copies of one history, as the tool makes them when it forks
// or resumes: they name their origin, or only themselves. Each response counts once,
// also where the origin is not there.
func TestUsageOfCopies(t *testing.T) {
	t.Parallel()
	for _, as := range []string{
		`"forkedFrom":{"sessionId":"g","messageUuid":"x"},"sessionId":"%"`,
		`"sessionId":"%"`,
		`"sessionId":"%","requestId":"r"`, // and ids of lines of their own
	} {
		g := newGrowing(t)
		run := func(id string, turns int) (n int64) {
			history := strings.ReplaceAll(many("g", turns), `"role":"assistant"`, `"model":"m","usage":{"input_tokens":7},"role":"assistant"`)
			name := strings.ReplaceAll(as, "%", id)
			if strings.Contains(as, "requestId") {
				history = strings.NewReplacer(`uuid":"g`, `uuid":"`+id, `Uuid":"g`, `Uuid":"`+id).Replace(history)
			} else if id == "g" {
				name = `"sessionId":"g"`
			}
			g.write(strings.ReplaceAll(history, `"cwd"`, name+`,"cwd"`))
			_, err := Import(t.Context(), g.p, History{Tool: Claude, ID: id, Path: g.path, Dir: "/w"}, nil)
			require.NoError(t, err)
			for u, err := range Usage(t.Context(), g.p, projects.Query{}) {
				require.NoError(t, err)
				n += u.Input
			}
			return n
		}
		require.Equal(t, int64(2*7), run("one", 2), as)
		require.Equal(t, int64(3*7), run("two", 3), as)
		require.Equal(t, int64(4*7), run("g", 4), as)
		require.Equal(t, int64(4*7), run("three", 1), as)
	}
}

// TestUsageOfPartsOfCopies imports copies of a history that begin or end elsewhere than
// it, say other things first, or are in another project: each response counts once, with
// the session that began first.
func TestUsageOfPartsOfCopies(t *testing.T) {
	t.Parallel()
	turn := func(n int, output ...int) string {
		s := fmt.Sprintf(`{"type":"user","uuid":"u%d","timestamp":"2026-03-04T1%d:00:00.000Z","message":{"content":"go %[1]d"}}`+"\n", n, n)
		for i, out := range output {
			s += fmt.Sprintf(`{"type":"assistant","uuid":"a%d-%d","timestamp":"2026-03-04T1%[1]d:00:0%[2]d.000Z","requestId":"r%[1]d","message":{"id":"m%[1]d","model":"m","content":[{"type":"text","text":"part %[2]d"}],"usage":{"input_tokens":7,"output_tokens":%[3]d}}}`+"\n", n, i, out)
		}
		return s
	}
	link := func(rows string) string { // each record follows the one before
		all, parent := strings.SplitAfter(rows, "\n"), "null"
		for i, row := range all {
			if _, after, found := strings.Cut(row, `"uuid":"`); found {
				all[i] = strings.Replace(row, `"uuid"`, `"parentUuid":`+parent+`,"uuid"`, 1)
				uuid, _, _ := strings.Cut(after, `"`)
				parent = `"` + uuid + `"`
			}
		}
		return strings.Join(all, "")
	}
	whole := turn(0, 1, 5) + turn(1, 1, 5) + turn(2, 1, 5)
	const first = `{"type":"user","uuid":"x","timestamp":"2026-03-04T09:00:00.000Z","message":{"content":"another beginning"}}` + "\n"
	for name, c := range map[string]struct {
		copy    string
		project string
		origin  int // responses that count with the origin
		copied  int // and with the copy
	}{
		"without the first turn":                 {turn(1, 1, 5) + turn(2, 1, 5) + turn(3, 1, 5), "-w", 3, 1},
		"from within a response":                 {strings.SplitAfterN(turn(1, 1, 5), "\n", 3)[2] + turn(3, 1, 5), "-w", 3, 1},
		"in another project":                     {turn(1, 1, 5) + turn(3, 1, 5), "-other", 3, 1},
		"with another beginning":                 {first + turn(1, 1, 5) + turn(3, 1, 5), "-w", 2, 2},
		"with ids of lines of its own":           {strings.ReplaceAll(turn(1, 1, 5)+turn(3, 1, 5), `uuid":"`, `uuid":"c`), "-w", 3, 1},
		"nothing of its own":                     {turn(1, 1), "-w", 3, 0},
		"a response that the origin has in part": {turn(2, 1, 9) + turn(3, 1, 5), "-w", 3, 1},
		"another conversation":                   {strings.ReplaceAll(turn(1, 1, 5)+turn(2, 1, 5), `"r`, `"other`), "-w", 3, 2},
		"no request":                             {strings.NewReplacer(`"requestId":"r1",`, "", `uuid":"`, `uuid":"c`).Replace(turn(1, 1, 5)), "-w", 3, 1},
	} {
		for _, reversed := range []bool{false, true} {
			g := newGrowing(t)
			order := []string{"origin", "copy"}
			if reversed {
				slices.Reverse(order)
			}
			for _, id := range order {
				rows, project := whole, "-w"
				if id == "copy" {
					rows, project = c.copy, c.project
				}
				g.write(link(rows))
				_, err := Import(t.Context(), g.p, History{Tool: Claude, ID: id, Path: g.path, Dir: "/w"}, &Options{Project: project})
				require.NoError(t, err)
			}
			responses, output := map[string]int{}, int64(0)
			for u, err := range Usage(t.Context(), g.p, projects.Query{}) {
				require.NoError(t, err)
				responses[u.Session] += u.Responses
				require.Equal(t, int64(7*u.Responses), u.Input)
				output += u.Output
			}
			require.Equal(t, c.origin, responses[idOf(Claude, "origin")], name)
			require.Equal(t, c.copied, responses[idOf(Claude, "copy")], name)
			want := int64(5 * (c.origin + c.copied))
			if strings.Contains(name, "in part") {
				want += 4
			}
			require.Equal(t, want, output, name)
		}
	}
}

// TestUsageOfCopiedAgents has a session with a sub-agent, and a copy of both.
func TestUsageOfCopiedAgents(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, id := range []string{"a", "b"} {
		rows := strings.ReplaceAll(many("g", 2), `"role":"assistant"`, `"model":"m","usage":{"input_tokens":7},"role":"assistant"`)
		for path, text := range map[string]string{id + ".jsonl": rows, id + "/subagents/agent-x.jsonl": strings.ReplaceAll(rows, "g-", "agent-")} {
			path = filepath.Join(home, "projects", "-"+id, path)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, `"cwd":"/w"`, `"cwd":"/`+id+`"`)), 0o600))
		}
	}
	all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
	require.NoError(t, err)
	p, sum := openProjects(t), int64(0)
	for _, h := range all {
		_, err := Import(t.Context(), p, h, nil)
		require.NoError(t, err)
	}
	for u, err := range Usage(t.Context(), p, projects.Query{}) {
		require.NoError(t, err)
		sum += u.Input
	}
	require.Equal(t, int64(4*7), sum)
}
