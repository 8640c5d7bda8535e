package hybrid

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
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
				rep, err := r.Verify(t.Context(), "s")
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

// TestReplacedLog begins another generation, so that nothing of the first is
// lost.
func TestReplacedLog(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one")
	a.put("s", "events.jsonl", events("first", 0, 10))
	a.sync()
	a.put("s", "events.jsonl", events("first", 0, 4))
	require.Zero(t, a.sync().Pushed, "a log that was cut has nothing new")
	require.Equal(t, UpToDate, a.state("s").State)
	a = c.reopened(t, a, "a")
	require.Equal(t, 1, a.sync("s").Requests, "it is asked for the head alone")
	require.Equal(t, UpToDate, a.state("s").State)
	a.put("s", "events.jsonl", events("second", 0, 3))
	a.sync()
	a.appendTo("s", "events.jsonl", events("second", 3, 4))
	a.sync()
	b := c.device(t, "b")
	b.pull()
	require.Equal(t, events("first", 0, 10), b.file("s", "events.jsonl"))
	held, err := b.Logs(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, held, 2)
	require.Equal(t, events("second", 0, 4), read(t, held[1].Path))
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
