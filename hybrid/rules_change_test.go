package hybrid

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// words takes words out.
type words struct {
	version string
	words   []string
}

func (w words) Version() string { return w.version }
func (w words) Line(line []byte) []byte {
	for _, word := range w.words {
		line = bytes.ReplaceAll(line, []byte(word), []byte("[redacted:word]"))
	}
	return line
}

// ruleSets are rules as they change: none, then more and others.
var ruleSets = []Redactor{
	nil,
	words{"words/1", []string{"apple"}},
	words{"words/2", []string{"apple", "pear"}},
	words{"words/3", []string{"pear", "plum"}},
}

func under(rules int) func(*Options) { return func(o *Options) { o.Redact = ruleSets[rules] } }

// reopened closes a device and opens its directory again.
func (c *cloud) reopened(t *testing.T, d *testDevice, name string, edit ...func(*Options)) *testDevice {
	t.Helper()
	requireClosed(t, d.Store)
	return c.deviceAt(t, d.Dir(), name, edit...)
}

// endRules ends the rules that the directory of a closed device remembers, so that others
// of the same name with a lower number are taken after them.
func (c *cloud) endRules(t *testing.T, d *testDevice, name string) {
	t.Helper()
	requireClosed(t, c.deviceAt(t, d.Dir(), name, func(o *Options) { o.Redact = Exact() }).Store)
}

// forgetStates removes what a device knows of sessions between syncs. Nobody wrote
// them of late.
func forgetStates(t *testing.T, d *testDevice) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(d.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.Contains(path, filepath.Join(".sessionstore", "sync")) && filepath.Ext(path) == ".json" {
			err = os.Remove(path)
		}
		if err == nil && e.Name() == "transcript.jsonl" {
			err = os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour))
		}
		return err
	}))
}

// TestRulesChange: new rules hold for lines that were not sent yet. Nothing is blocked,
// nothing is sent again, and no line changes its form.
func TestRulesChange(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", under(1))
	a.say("s", "apple pear plum", "two")
	a.put("s", "events.jsonl", "{\"event\":\"apple pear\"}\n")
	a.sync()
	a = c.reopened(t, a, "a", under(2))
	require.Zero(t, a.sync().Pushed, "new rules alone change nothing")
	a.say("s", "apple pear plum")
	a.appendTo("s", "events.jsonl", "{\"event\":\"apple pear\"}\n")
	before := c.documents()
	got := a.sync()
	require.Equal(t, 1, got.Pushed)
	require.Equal(t, UpToDate, a.state("s").State)
	require.LessOrEqual(t, c.documents()[segment.TypeSegment]-before[segment.TypeSegment], 2, "what is new, and only that")

	h := c.headOf(t, a.engine.SID("s"))
	require.Equal(t, []head.Rules{{From: 0, Version: "words/1"}, {From: 2, Version: "words/2"}}, h.RulesOf(segment.Transcript))
	for st := range h.Logs {
		require.Equal(t, []head.Rules{{From: 0, Version: "words/1"}, {From: 1, Version: "words/2"}}, h.RulesOf(st))
	}
	require.Len(t, h.Logs, 1, "the log goes on in its stream")

	b := c.device(t, "b", under(3))
	b.pull()
	want := []string{"[redacted:word] pear plum", "two", "[redacted:word] [redacted:word] plum"}
	require.Equal(t, want, b.texts("s"))
	require.Zero(t, b.sync().Pushed, "what came is here as it was sent")
	b.say("s", "apple pear plum")
	require.Equal(t, 1, b.sync().Pushed)
	a.sync()
	require.Equal(t, []string{"apple pear plum", "two", "apple pear plum", "apple [redacted:word] [redacted:word]"}, a.texts("s"))
	require.Zero(t, a.sync().Pushed+b.sync().Pushed)
	require.Empty(t, c.headOf(t, a.engine.SID("s")).Histories.Branches)
	require.Equal(t, 1, len(a.ids()))

	// A rewind among lines of other rules, and lines in their place.
	a.cutTo("s", 1)
	a.say("s", "pear plum")
	require.Equal(t, 1, a.sync().Pushed)
	b.sync()
	require.Equal(t, []string{"[redacted:word] pear plum", "[redacted:word] plum"}, b.texts("s"))
	require.Equal(t, 1, len(b.ids()))
}

// TestRulesLater: rules can be turned on for sessions that were sent without.
func TestRulesLater(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	b := c.device(t, "b", under(2))
	a.say("s", "apple", "pear")
	a.sync()
	a = c.reopened(t, a, "a", under(1))
	b.pull()
	a.say("s", "apple")
	a.sync()
	require.Equal(t, UpToDate, a.state("s").State)
	b.sync()
	require.Equal(t, []string{"apple", "pear", "[redacted:word]"}, b.texts("s"))
	require.Equal(t, []head.Rules{{From: 0}, {From: 2, Version: "words/1"}}, c.headOf(t, a.engine.SID("s")).RulesOf(segment.Transcript))
}

// TestRulesChangeAndStateIsLost: which form a line was sent in is found out from the
// cloud.
func TestRulesChangeAndStateIsLost(t *testing.T) {
	t.Parallel()
	for _, more := range []bool{false, true} {
		t.Run(fmt.Sprint("more=", more), func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.device(t, "a", under(1))
			b := c.device(t, "b", under(1))
			a.say("s", "apple pear plum", "two")
			a.sync()
			b.pull()
			requireClosed(t, a.Store)
			requireClosed(t, b.Store)
			forgetStates(t, a)
			forgetStates(t, b)
			a = c.deviceAt(t, a.Dir(), "a", under(2))
			b = c.deviceAt(t, b.Dir(), "b", under(3))
			pushes := 0
			if more {
				a.say("s", "three pear")
				pushes++
			}
			require.Equal(t, pushes, a.sync().Pushed)
			b.sync()
			require.Equal(t, len(a.texts("s")), len(b.texts("s")))
			require.Equal(t, "[redacted:word] pear plum", b.texts("s")[0])
			require.Equal(t, 1, len(a.ids()))
			require.Equal(t, 1, len(b.ids()))
			require.Empty(t, c.headOf(t, a.engine.SID("s")).Histories.Branches)
		})
	}
}

// TestRulesChangeAndDiverge: a divergence is told from what rules changed.
func TestRulesChangeAndDiverge(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a", under(1)), c.device(t, "b", under(2))
	a.say("s", "apple pear", "two")
	a.sync()
	b.pull()
	b.say("s", "pear of b")
	b.sync()
	a.say("s", "apple", "other")
	time.Sleep(50 * time.Millisecond) // so that the files are not read again
	c.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Refuse(503, 0) }))
	_, err := a.Sync(t.Context())
	require.Error(t, err, "what was found out is kept")
	c.Inject(nil)
	a.sync()
	require.Equal(t, []string{"apple pear", "two", "[redacted:word] of b"}, a.texts("s"))
	require.Len(t, a.ids(), 2)
	require.Len(t, c.headOf(t, a.engine.SID("s")).Histories.Branches, 1)
}

// TestRulesChangeAtRandom: devices whose rules change at random keep one history, in
// which each line has the form that the rules gave it when it was sent. States are lost,
// and lines are rewound.
func TestRulesChangeAtRandom(t *testing.T) {
	t.Parallel()
	rnd := testenv.Rand(t)
	for round := range testenv.Share(4, 6, testenv.Further(10, 20)) {
		c := newCloud(t, nil)
		names := []string{"a", "b", "c"}
		var devices []*testDevice
		rules := make([]int, len(names))
		for i, name := range names {
			rules[i] = 1 + rnd.IntN(3)
			devices = append(devices, c.device(t, name, under(rules[i])))
		}
		var sent []string
		say := func(i int) {
			text := fmt.Sprint("apple pear plum ", len(sent))
			devices[i].say("s", text)
			sent = append(sent, string(ruleSets[rules[i]].Line([]byte(text))))
			devices[i].sync()
		}
		say(0)
		for _, d := range devices {
			d.pull()
		}
		for range 30 {
			i := rnd.IntN(len(devices))
			switch n := rnd.IntN(10); {
			case n < 4:
				devices[i].sync()
				say(i)
			case n < 7:
				if requireClosed(t, devices[i].Store); n == 6 {
					forgetStates(t, devices[i])
				}
				rules[i] = 1 + rnd.IntN(3)
				c.endRules(t, devices[i], names[i])
				devices[i] = c.deviceAt(t, devices[i].Dir(), names[i], under(rules[i]))
			case n == 7:
				devices[i].sync()
				sent = sent[:1+rnd.IntN(len(sent))]
				devices[i].cutTo("s", len(sent))
				devices[i].sync()
			default:
				devices[i].sync()
				devices[i].pull()
			}
		}
		for _, d := range append(devices, devices...) {
			d.pull()
			d.sync()
		}
		for _, d := range devices {
			require.Equal(t, []string{"s"}, d.ids(), "round %d: no divergence", round)
			require.Equal(t, UpToDate, d.state("s").State)
			require.Zero(t, d.sync().Pushed)
		}
		require.Empty(t, c.headOf(t, devices[0].engine.SID("s")).Histories.Branches)
		reader := c.device(t, "reader")
		reader.pull()
		require.Equal(t, sent, reader.texts("s"), "round %d", round)
	}
}
