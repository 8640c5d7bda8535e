package hybrid

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

func (r *testDevice) appendTo(id, name, text string) {
	r.t.Helper()
	f, err := os.OpenFile(filepath.Join(r.Dir(), id, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(r.t, err)
	_, err = f.WriteString(text)
	require.NoError(r.t, err)
	require.NoError(r.t, f.Close())
}

func events(who string, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "{\"ts\": \"2026-11-20T10:00:%02d\", \"event\": \"%s\", \"n\": %d}\n", i, who, i)
	}
	return b.String()
}

// TestLogsNeverConflict lets two devices write their logs at the same time.
func TestLogsNeverConflict(t *testing.T) {
	t.Parallel()
	for _, name := range sessiondir.Logs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a"), c.device(t, "b")
			a.say("s", "one")
			a.appendTo("s", name, events("a", 0, 5))
			a.sync()
			b.pull()
			require.Equal(t, events("a", 0, 5), b.file("s", name))
			a.appendTo("s", name, events("a", 5, 7))
			b.appendTo("s", name, events("b", 0, 3))
			require.Empty(t, append(a.sync().Conflicts, b.sync().Conflicts...))
			require.Equal(t, events("a", 0, 5)+events("b", 0, 3), b.file("s", name))
			require.Zero(t, a.sync().Pushed+b.sync().Pushed)

			a.pull("s")
			held, err := a.Logs(t.Context(), "s")
			require.NoError(t, err)
			require.Len(t, held, 2)
			own, other := read(t, held[0].Path), read(t, held[1].Path)
			require.Equal(t, events("a", 0, 7), own)
			require.Equal(t, events("b", 0, 3), other)

			third := c.device(t, "third")
			third.pull()
			require.Equal(t, events("a", 0, 7), third.file("s", name))
			third.appendTo("s", name, events("third", 0, 1))
			third.sync()
			for _, r := range []*testDevice{a, b, third} {
				rep, err := r.Check(t.Context(), "s", nil)
				require.NoError(t, err)
				require.EqualValues(t, 1+7+3+1, rep.Lines)
			}
		})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// TestReplacedLog cuts a log, and then replaces it by another one. Other devices get what it
// is now. What it was stays as long as former heads do.
func TestReplacedLog(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	a.put("s", "events.jsonl", events("first", 0, 10))
	a.sync()
	b.pull()
	a.put("s", "events.jsonl", events("first", 0, 4))
	require.Equal(t, 1, a.sync().Pushed)
	require.Equal(t, UpToDate, a.state("s").State)
	a = c.reopened(t, a, "a")
	require.Equal(t, 1, a.sync("s").Requests, "it is asked for the head alone")
	require.Equal(t, UpToDate, a.state("s").State)
	a.put("s", "events.jsonl", events("second", 0, 3))
	a.sync()
	a.appendTo("s", "events.jsonl", events("second", 3, 4))
	a.sync()
	b.pull()
	d := c.device(t, "d")
	d.pull()
	require.Equal(t, events("second", 0, 4), d.file("s", "events.jsonl"))
	held, err := b.Logs(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, held, 2, "its own, which began as the first one, and this one")
	require.Equal(t, events("second", 0, 4), read(t, held[1].Path))
	left := c.histories(t, a.engine.SID("s"))
	require.Len(t, left, 2)
	found, err := a.Histories(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, found, "they are none of the transcript")
	c.requirePlain(t, []string{events("first", 9, 10), events("second", 3, 4)}, nil)
}

// TestCutLogCostsItsNewLines cuts a log of 1.4 MB, as an undo does, and goes on. Only new
// lines are sent, whatever ends in the middle of a document. When the time of former heads is
// over, nothing is left of what was cut.
func TestCutLogCostsItsNewLines(t *testing.T) {
	t.Parallel()
	for _, growing := range []bool{false, true} { // lines stored as differences to others, too
		t.Run(fmt.Sprint(growing), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud(t, nil)
				a, b := c.device(t, "a"), c.device(t, "b")
				var lines []string
				context := ""
				add := func(n int) string {
					var out strings.Builder
					for range n {
						text := noise(14 << 10)
						if growing {
							context += text[:1<<10]
							text = context + text[:100]
						}
						line := fmt.Sprintf("{\"event\": \"x\", \"n\": %d, \"data\": %q}\n", len(lines), text)
						lines = append(lines, line)
						out.WriteString(line)
					}
					return out.String()
				}
				a.say("s", "one", "two")
				for _, n := range []int{20, 50, 10, 20} {
					a.appendTo("s", "events.jsonl", add(n))
					a.sync("s")
				}
				b.pull()
				whole := a.file("s", "events.jsonl")
				for _, n := range []int{95, 71, 70, 12} { // inside of documents and between them
					lines = lines[:n]
					kept := strings.Join(lines, "")
					a.put("s", "events.jsonl", kept)
					if n != 71 { // both at once, and one after the other
						a.sync("s")
					}
					a.appendTo("s", "events.jsonl", add(3))
					c.ResetCounters()
					a.sync("s")
					require.Less(t, c.Counters().Total.Charge, 160.0)
					require.Equal(t, 1, a.sync("s").Requests)
					b.pull("s")
					held, err := b.Logs(t.Context(), "s")
					require.NoError(t, err)
					require.Equal(t, a.file("s", "events.jsonl"), read(t, held[len(held)-1].Path))
				}
				_, err := a.Check(t.Context(), "s", nil)
				require.NoError(t, err)
				require.Len(t, c.histories(t, a.engine.SID("s")), 4)
				r := newSimReader(heldBy(c.Server))
				var longest head.History
				for _, h := range c.histories(t, a.engine.SID("s")) {
					if h.Extent.N > longest.Extent.N {
						longest = h
					}
				}
				text, err := r.shelf().stream(c.headOf(t, a.engine.SID("s")), longest.Stream, longest.Extent.Point())
				require.NoError(t, err)
				require.Equal(t, whole, string(text))

				time.Sleep(31 * 24 * time.Hour)
				require.Equal(t, 4, a.prune(nil).Expired)
				for range 2 {
					time.Sleep(8 * 24 * time.Hour)
					a.prune(&PruneOptions{All: true})
				}
				require.Empty(t, c.histories(t, a.engine.SID("s")))
				d := c.device(t, "d")
				d.pull()
				require.Equal(t, a.file("s", "events.jsonl"), d.file("s", "events.jsonl"))
				c.requirePlain(t, nil, []string{whole[len(whole)-1000:]})
			})
		})
	}
}

// TestCutLogThatIsNotKnown cuts a log on a device that does not know any more what it sent. The
// log in the cloud stays what it is, beside what is here now, which is sent once.
func TestCutLogThatIsNotKnown(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one")
	a.put("s", "events.jsonl", events("first", 0, 10))
	a.sync()
	requireClosed(t, a.Store)
	forgetStates(t, a)
	a = c.deviceAt(t, a.Dir(), "a")
	a.put("s", "events.jsonl", events("first", 0, 4))
	a.sync()
	require.Equal(t, 1, a.sync("s").Requests)
	require.Empty(t, c.histories(t, a.engine.SID("s")))
	b := c.device(t, "b")
	b.pull()
	require.Equal(t, events("first", 0, 10), b.file("s", "events.jsonl"))
	a.put("s", "events.jsonl", events("first", 0, 3))
	a.sync()
	require.Len(t, c.histories(t, a.engine.SID("s")), 1, "this is known")
	b.pull()
	held, err := b.Logs(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, held, 2)
	require.Equal(t, events("first", 0, 3), read(t, held[1].Path))
}

// TestCutLogIsKilled ends a device between two requests of the sync of a log that was cut,
// and lets it write on. The log is what is here, and what was cut is listed once.
func TestCutLogIsKilled(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			reached := false
			synctest.Test(t, func(t *testing.T) {
				c, w := newCloud(t, nil), &tripwire{after: after}
				w.trip = func() { reached = true; w.kill(true) }
				a := c.device(t, "a", c.over(t, w))
				a.say("s", "one")
				a.put("s", "events.jsonl", events("first", 0, 10))
				a.sync()
				a.put("s", "events.jsonl", events("first", 0, 4)+events("second", 0, 1))
				w.at = w.count() + n
				_, err := a.Sync(t.Context(), "s")
				w.at = 0
				require.True(t, reached || err == nil)
				w.kill(false)
				time.Sleep(time.Minute)
				a.appendTo("s", "events.jsonl", events("second", 1, 2))
				a.sync()
				require.Len(t, c.histories(t, a.engine.SID("s")), 1, "ended at request %d", n)
				b := c.device(t, fmt.Sprint("b", n))
				b.pull()
				require.Equal(t, a.file("s", "events.jsonl"), b.file("s", "events.jsonl"))
			})
			if !reached {
				require.Greater(t, n, 2)
				break
			}
		}
	}
}

// TestGrowingEvents is an event log whose lines repeat the whole conversation.
func TestGrowingEvents(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	unique, context := 0, ""
	for i := range 30 {
		add := noise(20 << 10)
		unique += len(add)
		context += add
		a.appendTo("s", "events.jsonl", fmt.Sprintf("{\"event\": \"llm:request\", \"n\": %d, \"data\": %q}\n", i, context))
		if i%3 == 0 {
			a.sync()
		}
	}
	a.sync()
	sum := 0
	for _, d := range c.Docs(testDatabase, testContainer) {
		sum += len(d.Body)
	}
	require.Less(t, float64(sum), 1.15*4/3*float64(unique), "with base64")
	b.pull()
	require.Equal(t, a.file("s", "events.jsonl"), b.file("s", "events.jsonl"))
}
