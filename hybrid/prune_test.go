package hybrid

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func (r *testDevice) prune(o *PruneOptions, ids ...string) PruneResult {
	r.t.Helper()
	got, err := r.Prune(context.Background(), o, ids...)
	require.NoError(r.t, err)
	return got
}

// at once is pruning without any patience.
func atOnceOf() *PruneOptions {
	return &PruneOptions{Grace: time.Nanosecond, HistoryRetention: -1, All: true}
}

// TestPruneMakesSegmentsLarger syncs after each turn, as people do.
func TestPruneMakesSegmentsLarger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a, b := c.device(t, "a"), c.device(t, "b")
		context := ""
		for i := range 40 {
			a.say("s", fmt.Sprint("question ", i), noise(3000))
			context += noise(9 << 10)
			a.appendTo("s", "events.jsonl", fmt.Sprintf("{\"event\": \"llm:request\", \"data\": %q}\n", context))
			a.sync()
			if i == 20 {
				b.pull()
			}
		}
		before := c.documents()
		plan := a.prune(&PruneOptions{Plan: true})
		require.Equal(t, before, c.documents(), "a plan changes nothing")
		got := a.prune(nil)
		require.Equal(t, []int{plan.Merged, plan.Segments}, []int{got.Merged, got.Segments})
		require.GreaterOrEqual(t, got.Merged, 70)
		require.LessOrEqual(t, got.Segments, 8)
		require.Zero(t, got.Removed)
		require.Equal(t, got.Merged, got.Waiting, "readers may be on their way")
		require.Equal(t, before["seg"]+got.Segments, c.documents()["seg"])
		c.ResetCounters()
		require.Zero(t, a.prune(nil).Sessions, "nothing happened since")
		require.Equal(t, 1, c.Counters().Total.Requests)
		b.sync("s")
		require.Zero(t, a.sync().Pushed)

		time.Sleep(8 * 24 * time.Hour)
		plan = b.prune(&PruneOptions{Plan: true})
		done := a.prune(nil)
		require.Equal(t, plan.Removed, done.Removed)
		require.Equal(t, got.Merged, done.Removed)
		require.Zero(t, done.Waiting)
		require.Equal(t, before["seg"]+got.Segments-got.Merged, c.documents()["seg"])
		report, err := b.Check(t.Context(), "s", nil)
		require.NoError(t, err)
		require.EqualValues(t, 80+40, report.Lines)
		require.LessOrEqual(t, report.Documents, 20)
		a.say("s", "one more")
		a.sync()
		b.pull()
		fresh := c.device(t, "fresh")
		fresh.pull()
		for _, r := range []*testDevice{b, fresh} {
			require.Equal(t, a.file("s", "transcript.jsonl"), r.file("s", "transcript.jsonl"))
		}
		require.Equal(t, a.file("s", "events.jsonl"), fresh.file("s", "events.jsonl"))
		require.Equal(t, PruneResult{Sessions: 1}, idle(b.prune(nil)))
	})
}

// idle is a result without its price.
func idle(r PruneResult) PruneResult {
	r.Requests, r.RequestUnits = 0, 0
	return r
}

// garden is a session with all that pruning must not harm, and much that it may
// remove. It returns what can be named, by how it is named.
type garden struct {
	*cloud
	a, b *testDevice
	old  string // transcript of s before it was rewound
}

func plantGarden(t *testing.T, c *cloud) *garden {
	g := &garden{cloud: c, a: c.device(t, "a"), b: c.device(t, "b", func(o *Options) { o.Conflict = Theirs })}
	a, b := g.a, g.b
	for i := range 10 { // small segments
		a.say("s", fmt.Sprint("question ", i), noise(700))
		a.appendTo("s", "events.jsonl", fmt.Sprintf("{\"event\": \"x\", \"data\": %q}\n", noise(500)))
		a.sync()
	}
	b.pull()
	a.say("s", noise(300<<10)) // chunks
	a.sync()
	g.old = a.file("s", "transcript.jsonl")
	a.cutTo("s", 12) // a rewind, with chunks behind it
	a.sync()
	b.say("s", "b's way", noise(300<<10)) // a branch with chunks
	_, err := b.Sync(t.Context(), "s")
	require.NoError(t, err)
	a.say("s", "on", "and on")
	a.put("s", "config.md", noise(9<<10))
	a.sync()
	a.put("s", "config.md", noise(9<<10)) // chunks of a file that was replaced
	a.sync()
	a.say("fork", "x")
	a.put("fork", "transcript.jsonl", a.file("s", "transcript.jsonl"))
	_, err = a.UpdateMetadata(t.Context(), "fork", func(md *sessionstore.Metadata) error { return md.Set("parent_id", "s") })
	require.NoError(t, err)
	a.say("fork", "own way")
	a.sync("fork")
	a.say("gone", "one")
	a.sync("gone")
	return g
}

// everything returns all histories of some sessions that can be named, or of
// all, as a new device reads them: their lengths and hashes.
func (g *garden) everything(t *testing.T, name string, ids ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	d := g.device(t, name)
	d.pull(ids...)
	for _, id := range d.ids() {
		all[id] = digest(d.file(id, "transcript.jsonl"))
		r, err := d.Check(t.Context(), id, nil)
		require.NoError(t, err)
		require.Empty(t, r.Problems)
		branches, err := d.Histories(t.Context(), id)
		require.NoError(t, err)
		for _, b := range branches {
			text, err := d.textOf(t.Context(), id, b)
			require.NoError(t, err)
			all[id+" "+b.ID] = digest(text)
		}
		if id == "s" {
			all["config"], all["events"] = digest(d.file(id, "config.md")), digest(d.file(id, "events.jsonl"))
		}
	}
	return all
}

func digest(text string) string { return fmt.Sprintf("%d %x", len(text), sha256.Sum256([]byte(text))) }

// textOf reads a branch.
func (r *testDevice) textOf(ctx context.Context, id string, b History) (text string, err error) {
	link := r.engine.Connect()
	main, _, err := link.Head(ctx, r.engine.SID(id), remoteread.Known{})
	if err != nil {
		return "", err
	}
	infos, err := link.Segments(ctx, main, segment.Transcript, 0)
	if err != nil {
		return "", err
	}
	origin := segment.Origin(segment.Transcript)
	for line, err := range link.Lines(ctx, segment.Transcript, infos, origin, b.extent.Point(), nil) {
		if err != nil {
			return "", err
		}
		text += string(line) + "\n"
	}
	return text, nil
}

// TestPruneHarmsNothing does it until nothing is left to be done.
func TestPruneHarmsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		g := plantGarden(t, c)
		want := g.everything(t, "before")
		require.Len(t, want, 3+2+2, "three sessions, a former head and a branch of one")
		documents := c.documents()
		for i := 0; ; i++ {
			require.Less(t, i, 10)
			time.Sleep(time.Hour)
			r := g.a.prune(atOnceOf())
			require.Zero(t, r.Expired)
			if r.Merged+r.Removed+r.Waiting == 0 {
				break
			}
		}
		require.Less(t, c.documents()["seg"], documents["seg"]-8)
		require.Less(t, c.documents()["chunk"], documents["chunk"], "of the file that was replaced")
		require.Equal(t, want, g.everything(t, "after"))

		time.Sleep(31 * 24 * time.Hour)
		chunks := c.documents()["chunk"]
		r := g.a.prune(nil)
		require.Equal(t, 1, r.Expired, "the rewind cannot be taken back any more")
		require.Positive(t, r.Removed)
		require.Less(t, c.documents()["chunk"], chunks)
		left := g.everything(t, "later")
		require.Len(t, left, len(want)-1)
		for name, text := range left {
			require.Equal(t, want[name], text, name)
		}

		g.a.cutTo("s", 1)
		g.a.sync("s")
		time.Sleep(40 * 24 * time.Hour)
		require.Positive(t, g.a.prune(nil).Expired)
		left = g.everything(t, "last")
		require.Equal(t, want["fork"], left["fork"], "a fork stays what it is")
		require.NotEqual(t, want["s"], left["s"])
	})
}

// TestPruneAfterDeletions finishes what a deletion left. The tombstone stays.
func TestPruneAfterDeletions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a")
		a.say("stays", "one", "two")
		a.say("s", "one", noise(300<<10))
		a.sync()
		whole := c.Docs(testDatabase, testContainer)
		require.NoError(t, a.Remove(t.Context(), "s"))
		buried := c.documents()
		for _, d := range whole { // what a device uploaded that did not know
			if strings.HasPrefix(d.ID, a.engine.SID("s")+"-") && d.ID != segment.HeadID(a.engine.SID("s")) {
				require.NoError(t, c.Put(testDatabase, testContainer, string(d.Body)))
			}
		}
		require.NotEqual(t, buried, c.documents())
		time.Sleep(6 * 24 * time.Hour)
		r := a.prune(nil)
		require.Zero(t, r.Removed)
		require.Positive(t, r.Waiting)
		time.Sleep(2 * 24 * time.Hour)
		require.Equal(t, r.Waiting, a.prune(nil).Removed)
		require.Equal(t, buried, c.documents(), "the tombstone stays")
		require.Equal(t, Removed, a.state("s").State)

		time.Sleep(1000 * 24 * time.Hour)
		require.Zero(t, a.prune(&PruneOptions{All: true}).Removed)
		require.Equal(t, buried, c.documents())
		list, err := a.Remote(t.Context())
		require.NoError(t, err)
		require.Equal(t, map[string]bool{"s": true, "stays": false}, map[string]bool{list[0].SessionID: list[0].Removed, list[1].SessionID: list[1].Removed})
		require.Zero(t, a.sync().Pushed, "it does not come back")
	})
}

// TestPruneOfWhatNeverGotATip removes an upload that was given up.
func TestPruneOfWhatNeverGotATip(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		w := &tripwire{}
		a := c.device(t, "a", c.over(t, w))
		a.say("s", noise(3<<20), noise(3<<20)) // more than one request
		w.at, w.trip = 5, func() { w.kill(true) }
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := a.Sync(ctx)
		require.Error(t, err)
		require.Zero(t, c.documents()["head"])
		require.Positive(t, c.documents()["chunk"])
		b := c.device(t, "b")
		for range 2 {
			require.Zero(t, b.prune(&PruneOptions{Grace: time.Nanosecond}).Removed, "it may still go on, whatever the grace")
			time.Sleep(3 * 24 * time.Hour)
		}
		time.Sleep(2 * 24 * time.Hour)
		require.Positive(t, b.prune(nil).Removed)
		require.Equal(t, map[string]int{"cat": 1}, c.documents(), "the entry is marked as deleted")
		list, err := b.Remote(t.Context())
		require.NoError(t, err)
		require.True(t, list[0].Removed)
		require.Zero(t, b.prune(&PruneOptions{All: true}).Removed)
		w.kill(false)
		require.Equal(t, 1, a.sync().Pushed)
		require.Equal(t, 1, b.pull().Pulled)
	})
}

// TestUploadThatSlept lets a device sleep between two requests of the first
// upload of a session, for so long that what it uploaded is gone.
func TestUploadThatSlept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		w := &tripwire{after: true}
		patient := func(o *Options) { o.Limits = &Limits{FirstAnswer: -1} } // a machine that sleeps does not count the time
		a, b := c.device(t, "a", c.over(t, w), patient), c.device(t, "b")
		removed := 0
		for n := 1; ; n++ {
			slept, id := false, fmt.Sprint("s", n)
			w.at, w.trip = w.count()+n, func() {
				slept = true
				time.Sleep(8 * 24 * time.Hour)
				removed += b.prune(nil).Removed
			}
			a.say(id, noise(2200<<10))
			a.sync(id)
			_, err := b.Check(t.Context(), id, nil)
			require.NoError(t, err, "slept after request %d", n)
			if !slept {
				require.Positive(t, removed)
				return
			}
		}
	})
}

// TestSendThatSlept lets a device sleep between two requests that send a line of several
// documents, for so long that another device removes what it stored. The device then stores the
// rest, finds that the head has changed, and sends the line anew. What is left of the first try
// takes the place of nothing.
func TestSendThatSlept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		c.alone = true // one request at a time
		w := &tripwire{after: true}
		patient := func(o *Options) { o.Limits = &Limits{FirstAnswer: -1} } // a machine that sleeps does not count the time
		a, b := c.device(t, "a", c.over(t, w), patient), c.device(t, "b")
		for n := 1; ; n++ {
			slept, id := false, fmt.Sprint("s", n)
			a.say(id, "hello")
			a.sync(id)
			a.say(id, noise(2200<<10))
			w.at, w.trip = w.count()+n, func() {
				slept = true
				time.Sleep(8 * 24 * time.Hour)
				b.prune(nil, id)
			}
			a.sync(id)
			for range 2 {
				time.Sleep(8 * 24 * time.Hour)
				b.prune(nil, id)
			}
			fresh := c.device(t, "fresh"+id)
			fresh.pull(id)
			require.Equal(t, a.file(id, "transcript.jsonl"), fresh.file(id, "transcript.jsonl"), "slept after request %d", n)
			if !slept {
				require.Greater(t, n, 5)
				return
			}
		}
	})
}

// TestForkThatWasNotFinished ends the first upload of a fork at each request. Its parent
// may go, and the fork is sent whole when its device goes on.
func TestForkThatWasNotFinished(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for n := 1; ; n++ {
			c := newCloud(t, nil)
			w := &tripwire{}
			a, b := c.device(t, fmt.Sprint("a", n), c.over(t, w)), c.device(t, fmt.Sprint("b", n))
			a.say("s", noise(20<<10))
			a.sync()
			a.say("child", "x")
			a.put("child", "transcript.jsonl", a.file("s", "transcript.jsonl"))
			a.setMember("child", "parent_id", "s")
			a.say("child", "own way")
			killed := false
			w.at, w.trip = w.count()+n, func() { killed = true; w.kill(true) }
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := a.Sync(ctx, "child")
			cancel()
			if !killed {
				require.NoError(t, err)
				require.Greater(t, n, 3)
				return
			}
			require.Error(t, err)
			require.NoError(t, b.Remove(t.Context(), "s"))
			time.Sleep(8 * 24 * time.Hour)
			b.prune(nil)
			w.kill(false)
			a.sync("child")
			b.pull("child")
			require.Equal(t, a.file("child", "transcript.jsonl"), b.file("child", "transcript.jsonl"))
		}
	})
}
