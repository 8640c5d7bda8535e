package hybrid

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestKill kills a process that syncs and pulls at each of its requests,
// before the server does it and after. Another process then comes to the end,
// and what stands in the cloud is read by a reader of its own.
func TestKill(t *testing.T) {
	t.Parallel()
	for _, done := range testenv.Some(t, 1, false, true) {
		name := map[bool]string{false: "before", true: "after"}[done]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := testenv.Share(40, 40, testenv.Further(4, 1))
			at := 1 + testenv.Rand(t).IntN(step)
			for killedAt(t, at, done) {
				at += step
			}
			require.Greater(t, at, 25, "requests of the whole journey")
		})
	}
}

// killedAt lets the process die at a request, and reports whether it came so
// far.
func killedAt(t *testing.T, at int, done bool) (killed bool) {
	r := newSimReader(nil)
	c := newCloud(t, &cosmostest.Options{Observe: r.observe})
	r.held = heldBy(c.Server)
	a, dir := c.parted(t, r)
	k := &killer{next: c, at: at, done: done, victim: make(chan *testenv.Process, 1), dead: make(chan struct{})}
	work := c.serve(t, k).by("b", "sync", "pull")
	p := work.spawn(t, "sync", dir)
	k.victim <- p
	_, lived := p.Line()
	p.Kill()
	close(k.dead)
	require.Equal(t, lived, k.seen.Load() < int64(at), "killed at request %d", at)

	age(t, dir)
	c.serve(t, c).by("b", "sync", "pull").finish(t, dir)
	b := c.deviceAt(t, dir, "b")
	b.sync() // the session that keeps its line
	a.sync()
	a.pull()
	b.sync()
	found := r.reachable()
	lost := testenv.Lost(t)
	require.Empty(lost, r.problems, "killed at request %d", at)
	for n := range r.marks {
		require.Contains(lost, found, fmt.Sprintf("rec-%d;", n+1), "killed at request %d", at)
	}
	require.ElementsMatch(lost, a.ids(), b.ids(), "killed at request %d", at)
	require.Len(lost, a.ids(), 5, "killed at request %d", at)
	for _, id := range a.ids() {
		for _, name := range []string{"transcript.jsonl", "metadata.json"} {
			require.Equal(lost, a.file(id, name), b.file(id, name), "%s of %s, killed at request %d", name, id, at)
		}
	}
	require.Len(lost, a.texts("rewound"), 1, "killed at request %d", at)
	return !lived
}

// TestKillWriter kills a process again and again that writes while its worker
// syncs. Every record that it acknowledged comes to the cloud and to another
// device, in order.
func TestKillWriter(t *testing.T) {
	t.Parallel()
	r := newSimReader(nil)
	c := newCloud(t, &cosmostest.Options{Observe: r.observe})
	r.held = heldBy(c.Server)
	dir := filepath.Join(t.TempDir(), "sessions")
	work := c.serve(t, c).by("a", "sync")
	random := testenv.Rand(t)
	last, acknowledged := 0, map[int]bool{}
	v := testenv.Victim{
		Name: "write", Dir: dir, Rounds: max(1, testenv.KillRounds()/5), Operations: 4000, First: 60, Within: time.Second,
		Acknowledges: func(string) bool { return true },
	}
	for round := range v.Rounds {
		work.From = last + 1
		v.Argument = work.text(t)
		v.Kill(t, round, random, func(line string) {
			n, err := strconv.Atoi(line)
			require.NoError(t, err)
			last, acknowledged[n] = n, true
		})
		last++ // it may have been written too
	}
	work.finish(t, dir)
	found := r.reachable()
	lost := testenv.Lost(t)
	require.Empty(lost, r.problems)
	b := c.device(t, "b")
	b.pull()
	a := c.deviceAt(t, dir, "a")
	require.ElementsMatch(lost, a.ids(), b.ids())
	here := 0
	for _, id := range b.ids() {
		require.Equal(lost, a.file(id, "transcript.jsonl"), b.file(id, "transcript.jsonl"))
		before := 0
		for _, text := range b.texts(id) {
			n, err := strconv.Atoi(strings.Trim(text, "rec-;"))
			require.NoError(t, err)
			require.Greater(lost, n, before)
			require.Contains(lost, found, text)
			before = n
			here++
			delete(acknowledged, n)
		}
	}
	require.Empty(lost, acknowledged)
	t.Logf("%d records, %d tips that a reader checked", here, r.checks)
}

// parted makes two devices that were offline for a while, with all that can be
// to be done: lines to be sent and fetched, a rewind, two histories of one
// session, long lines, logs. It returns the one and the directory of the
// other, "b", which nobody has open.
func (c *cloud) parted(t *testing.T, r *simReader) (*testDevice, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions")
	a, b := c.device(t, "a"), c.deviceAt(t, dir, "b")
	say := func(d *testDevice, id string, n int) {
		for range n {
			d.say(id, r.mark())
		}
	}
	for _, id := range []string{"both", "rewound"} {
		say(a, id, 3)
	}
	a.sync()
	b.pull()
	say(a, "both", 1)
	say(a, "theirs", 2)
	a.say("theirs", r.mark()+noise(600<<10))
	a.put("theirs", "events.jsonl", fmt.Sprintf("{\"event\":\"%s\"}\n", r.mark()))
	a.sync()
	say(b, "both", 2)
	say(b, "ours", 2)
	b.say("ours", r.mark()+noise(600<<10))
	b.put("ours", "events.jsonl", fmt.Sprintf("{\"event\":\"%s\"}\n", r.mark()))
	b.cutTo("rewound", 1)
	require.NoError(t, b.Close())
	age(t, dir)
	return a, dir
}

// age makes it long ago that the transcripts of a directory were written: what
// was written a short time ago is left alone.
func age(t *testing.T, dir string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*", "transcript.jsonl"))
	require.NoError(t, err)
	at := time.Now().Add(-time.Hour)
	for _, name := range all {
		require.NoError(t, os.Chtimes(name, at, at))
	}
}

// killer kills a process at one of its requests.
type killer struct {
	next   http.Handler
	at     int
	done   bool // the request is done before
	victim chan *testenv.Process
	dead   chan struct{}

	seen atomic.Int64
}

func (k *killer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if k.seen.Add(1) != int64(k.at) {
		k.next.ServeHTTP(w, r)
		return
	}
	if k.done {
		k.next.ServeHTTP(httptest.NewRecorder(), r)
	}
	(<-k.victim).KillNow()
	<-k.dead
}
