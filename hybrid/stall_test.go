package hybrid

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/served"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// The tests of this file are for each remote: by the flag -remote, tests of other modules run
// them on their own.

var placesTaken atomic.Int64

// placeAt returns a cloud that is a place of its own of the remote at an address.
func placeAt(t *testing.T, address string) *cloud {
	c := &cloud{place: fmt.Sprint("place-", os.Getpid(), "-", placesTaken.Add(1))}
	c.elsewhere = func() remote.Remote { return c.stopping(t, address, 0, false, nil) }
	return c
}

// stopping opens a way to the cloud, one of whose requests stops.
func (c *cloud) stopping(t *testing.T, address string, at int, done bool, stopped func()) remote.Remote {
	t.Helper()
	r, err := openServed(address, served.Call{Name: c.place, Stop: at, Done: done}, stopped)
	require.NoError(t, err)
	testenv.Cleanup(t, func() { require.NoError(t, r.Close()) })
	return r
}

// TestKillElsewhere kills a process that syncs and pulls at each of its requests, before it is
// done and after. Another process then comes to the end: nothing is lost, and nothing there
// twice.
func TestKillElsewhere(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, address string) {
		for _, done := range []bool{false, true} {
			step := testenv.Share(20, 20, testenv.Further(4, 1))
			at := 1 + testenv.Rand(t).IntN(step)
			for killedElsewhere(t, address, at, done) {
				at += step
			}
			require.Greater(t, at, 20, "requests of the whole journey")
		}
	})
}

// killedElsewhere lets the process die at a request, and reports whether it came so far.
func killedElsewhere(t *testing.T, address string, at int, done bool) (killed bool) {
	c, r := placeAt(t, address), newSimReader(nil)
	a, dir := c.parted(t, r)
	work := errand{Remote: address, Place: c.place, Stop: at, Done: done}.by("b", "sync", "pull")
	p := work.spawn(t, "sync", dir)
	_, lived := p.Line()
	p.Kill()
	age(t, dir)
	work.Stop = 0
	work.finish(t, dir)
	b := c.deviceAt(t, dir, "b")
	b.sync() // the session that keeps its line
	a.sync()
	a.pull()
	b.sync()
	lost := testenv.Lost(t)
	require.ElementsMatch(lost, a.ids(), b.ids(), "killed at request %d", at)
	require.Len(lost, a.ids(), 5, "killed at request %d", at)
	found := map[string]bool{}
	for _, id := range a.ids() {
		text := a.file(id, "transcript.jsonl")
		for mark := range marksIn([]byte(text)) {
			require.Equal(lost, 1, strings.Count(text, mark), "%s in %s, killed at request %d", mark, id, at)
		}
		for _, name := range []string{"transcript.jsonl", "metadata.json"} {
			require.Equal(lost, a.file(id, name), b.file(id, name), "%s of %s, killed at request %d", name, id, at)
		}
		maps.Copy(found, marksIn([]byte(text+a.beside(t, id))))
	}
	for n := range r.marks {
		require.Contains(lost, found, fmt.Sprintf("rec-%d;", n+1), "killed at request %d", at)
	}
	require.Len(lost, a.texts("rewound"), 1, "killed at request %d", at)
	return !lived
}

// beside returns the former histories of a session, and its logs.
func (r *testDevice) beside(t *testing.T, id string) (all string) {
	t.Helper()
	branches, err := r.Histories(t.Context(), id)
	require.NoError(t, err)
	for _, b := range branches {
		text, err := r.textOf(t.Context(), id, b)
		require.NoError(t, err)
		all += text
	}
	logs, err := r.Logs(t.Context(), id)
	require.NoError(t, err)
	for _, l := range logs {
		text, err := os.ReadFile(l.Path)
		require.NoError(t, err)
		all += string(text)
	}
	return all
}

// TestCrowd lets devices write, sync, fetch and prune at once. In the end each has all that
// each has written, once in a session.
func TestCrowd(t *testing.T) {
	t.Parallel()
	onEach(t, crowd)
}

func crowd(t *testing.T, address string) {
	c, r := placeAt(t, address), newSimReader(nil)
	devices := make([]*testDevice, 4)
	for i := range devices {
		devices[i] = c.device(t, fmt.Sprint("d", i))
	}
	seed := testenv.Seed(t)
	var work sync.WaitGroup
	for i, d := range devices {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		work.Go(func() {
			for range testenv.Share(10, 10, 40) {
				id := []string{"shared", fmt.Sprint("s", i)}[random.IntN(2)]
				d.say(id, r.mark(), r.mark())
				_, synced := d.Sync(t.Context(), id)
				pulled, pruned := error(nil), error(nil)
				switch random.IntN(3) {
				case 0:
					_, pulled = d.Pull(t.Context())
				case 1:
					_, pruned = d.Prune(t.Context(), atOnceOf())
				}
				for _, err := range []error{synced, pulled, pruned} {
					if !errors.Is(err, ErrContended) {
						assert.NoError(t, err)
					}
				}
			}
		})
	}
	work.Wait()
	for moved, round := true, 0; moved; round++ {
		require.Less(t, round, 20, "the devices do not come to rest")
		moved = false
		for _, d := range devices {
			s, p := d.sync(), d.pull()
			moved = moved || s.Pushed+p.Pulled+len(s.Conflicts)+len(p.Conflicts) > 0
		}
	}
	for _, d := range devices {
		require.ElementsMatch(testenv.Lost(t), devices[0].ids(), d.ids())
		found := map[string]bool{}
		for _, id := range d.ids() {
			text := d.file(id, "transcript.jsonl")
			require.Equal(testenv.Lost(t), devices[0].file(id, "transcript.jsonl"), text)
			for mark := range marksIn([]byte(text)) {
				found[mark] = true
				require.Equal(testenv.Lost(t), 1, strings.Count(text, mark), "%s in %s", mark, id)
			}
		}
		require.Len(testenv.Lost(t), found, r.marks)
	}
}

// TestStalls lets a device that writes stop in one of its requests, before it is done or
// after, for longer than the grace time, while another one prunes as much as it can; and lets
// one that prunes stop while another one writes. What can be read then is what it is without
// pruning.
func TestStalls(t *testing.T) {
	t.Parallel()
	changes := meanwhile()
	for _, name := range testenv.Some(t, 2, slices.Sorted(maps.Keys(changes))...) {
		for _, prunes := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, pruning stalls: %v", name, prunes), func(t *testing.T) {
				t.Parallel()
				address, change, r := addressOf(t), changes[name], testenv.Rand(t)
				var want []string
				inBubble := func(at int, done bool) (got []string, reached bool) {
					synctest.Test(t, func(t *testing.T) { got, reached = stalled(t, address, change, prunes, at, done) })
					return got, reached
				}
				want, _ = inBubble(0, false)
				for at := 1 + r.IntN(testenv.Share(12, 12, 4)); ; at += 1 + r.IntN(testenv.Share(24, 24, 8)) {
					got, reached := inBubble(at, r.IntN(2) == 0)
					require.Equal(testenv.Lost(t), want, got, "request %d", at)
					if !reached {
						require.Greater(t, at, 3)
						return
					}
				}
			})
		}
	}
}

// stalled is a change beside pruning, one of which stops at a request. It returns the
// sizes of all that can be read afterwards, and whether the request was reached.
func stalled(t *testing.T, address string, change func(*testing.T, *testDevice, *garden) error, prunes bool, at int, done bool) (got []string, reached bool) {
	c := placeAt(t, address)
	g := plantGarden(t, c)
	time.Sleep(time.Minute) // or former heads are too young to be given up, where the bubble's clock stood still

	g.a.prune(&PruneOptions{Grace: 1000 * time.Hour, HistoryRetention: time.Nanosecond}) // gives up former heads, and waits
	for i := range 9 {
		g.a.say("s", fmt.Sprint("more ", i))
		g.a.sync("s")
	}
	g.a.say("s", "not sent yet")
	require.NoError(t, g.a.Close())
	time.Sleep(time.Hour)
	first := error(nil)
	other := c.device(t, "other")
	through := func(r remote.Remote) func(*Options) {
		return func(o *Options) { o.Remote, o.Limits = r, &Limits{FirstAnswer: -1} } // a machine that sleeps does not count the time
	}
	w := func(t *testing.T, r remote.Remote) *testDevice { return c.deviceAt(t, g.a.Dir(), "a", through(r)) }
	if prunes {
		a := w(t, c.remote())
		u := c.device(t, "pruning", through(c.stopping(t, address, at, done, func() {
			reached = true
			time.Sleep(8 * 24 * time.Hour)
			first = change(t, a, g)
			time.Sleep(8 * 24 * time.Hour)
		})))
		_, err := u.Prune(t.Context(), atOnceOf(), "s")
		if err != nil {
			require.ErrorIs(t, err, ErrContended, "request %d", at)
		}
		if !reached {
			first = change(t, a, g)
		}
		requireClosed(t, a.Store)
	} else {
		a := w(t, c.stopping(t, address, at, done, func() {
			reached = true
			for _, o := range []*PruneOptions{atOnceOf(), nil, atOnceOf()} {
				time.Sleep(8 * 24 * time.Hour)
				other.prune(o, "s")
			}
		}))
		first = change(t, a, g)
		requireClosed(t, a.Store)
	}
	a := w(t, c.remote())
	if first != nil {
		require.ErrorIs(t, first, ErrContended, "request %d", at)
		require.NoError(t, change(t, a, g), "request %d", at)
	}
	time.Sleep(time.Hour)
	a.sync()
	time.Sleep(time.Hour)
	for range 2 {
		other.prune(atOnceOf(), "s")
		time.Sleep(time.Hour)
	}
	all := g.everything(t, "new")
	for _, id := range a.ids() {
		require.Equal(testenv.Lost(t), digest(a.file(id, "transcript.jsonl")), all[id], "%s, request %d", id, at)
	}
	for _, text := range all { // what is in them is another one each time
		size, _, _ := strings.Cut(text, " ")
		got = append(got, size)
	}
	slices.Sort(got)
	return got, reached
}
