package hybrid

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// eventOf is an event with so many bytes of data.
func eventOf(n, size int) string {
	return fmt.Sprintf("{\"event\": \"x\", \"n\": %d, \"data\": %q}\n", n, noise(size))
}

// fillEvents writes a log of about size bytes in events of 3 KB, as one push or as
// many, and returns how many there are.
func (r *testDevice) fillEvents(id string, size, pushes int) (n int) {
	r.t.Helper()
	for range pushes {
		var b strings.Builder
		for b.Len() < size/pushes {
			b.WriteString(eventOf(n, 3<<10))
			n++
		}
		r.appendTo(id, "events.jsonl", b.String())
		r.sync()
	}
	return n
}

// otherLog returns the log of another device, as it lies on this one.
func (r *testDevice) otherLog(id, name string) string {
	r.t.Helper()
	logs, err := r.Logs(r.t.Context(), id)
	require.NoError(r.t, err)
	for _, l := range logs {
		if l.Device != "" && l.Name == name {
			return l.Path
		}
	}
	return ""
}

// TestCostOfPullingAnEvent pulls one event more from logs of several sizes, to a
// device that was given the log as its own file, and to one that holds it beside.
func TestCostOfPullingAnEvent(t *testing.T) {
	t.Parallel()
	for _, mb := range testenv.Share([]int{2}, []int{2}, testenv.Further([]int{8}, []int{1, 8, 40})) {
		for _, pushes := range []int{1, 20} {
			t.Run(fmt.Sprint(mb, " MB in ", pushes), func(t *testing.T) {
				t.Parallel()
				c := newCloud(t, nil)
				a, b := c.device(t, "a"), c.device(t, "b")
				a.say("s", "one")
				a.sync()
				b.pull()
				a.sync()
				n := a.fillEvents("s", mb<<20, pushes)
				b.pull()
				late := c.device(t, "late")
				late.pull()
				held, whole := "", a.file("s", "events.jsonl")
				for i := range 4 {
					more := eventOf(n+i, 4<<10-100)
					a.appendTo("s", "events.jsonl", more)
					a.sync()
					held += more
					for _, r := range []*testDevice{b, late} {
						c.ResetCounters()
						require.Empty(t, r.pull("s").Failed)
						total := c.Counters().Total
						t.Logf("%d requests, %.1f units", total.Requests, total.Charge)
						require.LessOrEqual(t, total.Charge, 30.0)
						require.LessOrEqual(t, total.Requests, 4)
					}
				}
				require.Equal(t, whole+held, read(t, b.otherLog("s", "events.jsonl")))
				require.Equal(t, whole, late.file("s", "events.jsonl"))
				require.Equal(t, held, read(t, late.otherLog("s", "events.jsonl")), "only what its own file lacks")
			})
		}
	}
}

// TestPullOfALogAppends lets the file with another device's log grow in its place.
// Its long lines are differences to lines that are here.
func TestPullOfALogAppends(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	a.sync()
	b.pull()
	context, whole := "", ""
	grow := func(i int) {
		context += noise(10 << 10)
		line := fmt.Sprintf("{\"event\": \"llm:request\", \"n\": %d, \"data\": %q}\n", i, context)
		a.appendTo("s", "events.jsonl", line)
		a.sync()
		whole += line
	}
	for i := range 5 {
		grow(i)
	}
	b.pull()
	late := c.device(t, "late")
	late.pull()
	first := whole
	path := b.otherLog("s", "events.jsonl")
	was, err := os.Stat(path)
	require.NoError(t, err)
	for i := range 5 {
		grow(5 + i)
		for _, r := range []*testDevice{b, late} {
			c.ResetCounters()
			r.pull("s")
			require.LessOrEqual(t, c.Counters().Total.Requests, 4)
			require.LessOrEqual(t, c.Counters().Total.Charge, 30.0)
		}
	}
	require.Equal(t, whole, read(t, path))
	require.Equal(t, first, late.file("s", "events.jsonl"))
	require.Equal(t, whole, first+read(t, late.otherLog("s", "events.jsonl")))
	is, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, os.SameFile(was, is))
}

// TestHeldLogAfterAKill finds the file with another device's log longer than its
// state says, as a kill leaves it, or shorter, or gone.
func TestHeldLogAfterAKill(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(t *testing.T, path string){
		"longer":  func(t *testing.T, path string) { appendFile(t, path, "{\"half of a li") },
		"shorter": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 10)) },
		"gone":    func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a"), c.device(t, "b")
			a.say("s", "one")
			a.sync()
			b.pull()
			a.appendTo("s", "events.jsonl", events("a", 0, 5))
			a.sync()
			b.pull()
			harm(t, b.otherLog("s", "events.jsonl"))
			a.appendTo("s", "events.jsonl", events("a", 5, 7))
			a.sync()
			b.pull()
			require.Equal(t, events("a", 0, 7), read(t, b.otherLog("s", "events.jsonl")))
		})
	}
}

func appendFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(read(t, path)+text), 0o600))
}

// TestEndOfALogIsCompleted pulls a session again that was removed: of its log the
// device had the beginning in the session's own file.
func TestEndOfALogIsCompleted(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	a.appendTo("s", "events.jsonl", events("a", 0, 5))
	a.sync()
	b.pull()
	a.appendTo("s", "events.jsonl", events("a", 5, 7))
	a.sync()
	b.pull()
	require.Equal(t, events("a", 5, 7), read(t, b.otherLog("s", "events.jsonl")))
	require.NoError(t, b.Delete(t.Context(), "s"))
	b.pull("s")
	require.Equal(t, events("a", 0, 7), b.file("s", "events.jsonl"))

	a.appendTo("s", "events.jsonl", events("a", 7, 9))
	a.sync()
	b.pull("s")
	require.Equal(t, events("a", 7, 9), read(t, b.otherLog("s", "events.jsonl")))
	b.put("s", "events.jsonl", events("b", 0, 2)) // another log, in the place of the one with the beginning
	b.sync()
	a.appendTo("s", "events.jsonl", events("a", 9, 10))
	a.sync()
	b.pull("s")
	require.Equal(t, events("a", 0, 10), read(t, b.otherLog("s", "events.jsonl")))
	_, err := os.Stat(filepath.Join(b.Dir(), "s"))
	require.NoError(t, err)
}
