package foreign

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestUsage adds up what the corpus used: it is what the files tell, each response
// once over forks and sub-agents, without what a fork copied.
func TestUsage(t *testing.T) {
	t.Parallel()
	p, want := projects(t), eventslog.Usage{}
	for _, h := range corpus(t) {
		report, err := Import(t.Context(), p, h, nil)
		if err != nil {
			require.ErrorIs(t, err, ErrEmpty)
		}
		for _, c := range report.Counts {
			for _, n := range []struct {
				to   *int64
				from *int64
			}{{&want.Input, c.Usage.Input}, {&want.Output, c.Usage.Output}, {&want.CacheRead, c.Usage.CacheRead}, {&want.CacheWrite, c.Usage.CacheWrite}} {
				if n.from != nil {
					*n.to += *n.from
				}
			}
			if c.Tool == Claude && c.Usage.CacheRead != nil {
				want.Input += *c.Usage.CacheRead
			}
		}
	}
	got := eventslog.Usage{}
	for u, err := range Usage(t.Context(), p, sessionstore.Query{}) {
		require.NoError(t, err)
		require.NotEmpty(t, u.Model)
		require.NotEmpty(t, u.Day)
		require.NoError(t, got.Add(u.Usage))
	}
	const copied = 400 // the fork 019cb8a0-0005 has that from its origin
	require.Equal(t, [4]int64{want.Input - copied, want.Output, want.CacheRead, want.CacheWrite}, [4]int64{got.Input, got.Output, got.CacheRead, got.CacheWrite})
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
		for u, err := range Usage(t.Context(), g.p, sessionstore.Query{}) {
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
		for u, err := range Usage(t.Context(), g.p, sessionstore.Query{}) {
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
	sum := func(p *sessionstore.Projects) (all eventslog.Usage) {
		for u, err := range Usage(t.Context(), p, sessionstore.Query{}) {
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
			for u, err := range Usage(t.Context(), g.p, sessionstore.Query{}) {
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
