package hybrid

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// headOf reads a session's head behind everybody's back.
func (c *cloud) headOf(t testing.TB, sid string) *head.Head {
	t.Helper()
	for _, d := range c.Docs(testDatabase, testContainer) {
		if d.ID == segment.HeadID(sid) {
			out, err := head.Decode(documentOf(d).Body, sid)
			require.NoError(t, err)
			return out
		}
	}
	require.Fail(t, "no head")
	return nil
}

// histories returns what the cloud has of a session's former heads and branches. It
// requires the head to name these, and no stray ones to be there.
func (c *cloud) histories(t testing.TB, sid string) []head.History {
	t.Helper()
	r := newSimReader(heldBy(c.Server))
	all := r.shelf().histories[sid]
	require.Equal(t, all, r.shelf().of(c.headOf(t, sid)))
	require.Len(t, all, c.headOf(t, sid).Histories.Len())
	return all
}

// lose takes a document away. What it returns puts it back.
func (c *cloud) lose(t testing.TB, id string) (back func()) {
	t.Helper()
	all := c.Docs(testDatabase, testContainer)
	i := slices.IndexFunc(all, func(d cosmostest.Doc) bool { return d.ID == id })
	require.GreaterOrEqual(t, i, 0)
	require.NoError(t, c.Remove(testDatabase, testContainer, all[i].Partition, id))
	return func() { require.NoError(t, c.Put(testDatabase, testContainer, string(all[i].Body))) }
}

// TestManyFormerHeads rewinds more often than a page of a list has rows. All former heads are
// listed and can be restored.
func TestManyFormerHeads(t *testing.T) {
	t.Parallel()
	rewinds := testenv.Share(130, 130, 500)
	c := newCloud(t, nil)
	a, late := c.device(t, "a"), c.device(t, "late")
	a.say("s", "one", "two")
	for i := range rewinds {
		a.say("s", fmt.Sprint("way ", i))
		a.sync("s")
		if i == 0 {
			late.pull()
		}
		a.cutTo("s", 2)
		a.sync("s")
	}
	sid := a.engine.SID("s")
	require.Len(t, c.histories(t, sid), rewinds)
	require.Empty(t, c.headOf(t, sid).Histories.Branches, "a former head is no branch")
	doc, err := c.headOf(t, sid).Encode()
	require.NoError(t, err)
	require.Less(t, len(doc.Body), 1<<10+20*rewinds)
	all, err := a.Histories(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, all, rewinds)
	for _, b := range all {
		require.Equal(t, "rewrite", b.Why)
		require.Equal(t, 3, b.Messages)
		require.Equal(t, 2, b.Common)
		require.False(t, b.At.IsZero())
	}

	require.NoError(t, os.RemoveAll(filepath.Join(late.Dir(), ".sessionstore", "sync")))
	late.pull("s") // what it has is long gone, and it does not know any more that it had that from the cloud
	require.Empty(t, late.sync("s").Conflicts)
	require.NotEqual(t, Diverged, late.state("s").Last)
	require.EqualValues(t, 2, c.headOf(t, sid).Transcript.N, "the rewind stays")

	require.NoError(t, a.Restore(t.Context(), "s", all[len(all)-1]))
	require.Equal(t, []string{"one", "two", "way 0"}, a.texts("s"))
}

// TestManyBranches lets twelve devices go their own way. One of them writes on while a
// program runs the session there: its longer branch replaces the shorter one.
func TestManyBranches(t *testing.T) {
	t.Parallel()
	const devices = 12
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("many", "one", "two")
	a.sync("many")
	var all []*testDevice
	for i := range devices {
		d := c.device(t, fmt.Sprint("d", i))
		d.pull()
		d.say("many", fmt.Sprint("way ", i))
		all = append(all, d)
	}
	first := all[0]
	hold, err := first.Acquire(t.Context(), "many", sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	a.say("many", "three")
	a.sync("many")
	for _, d := range all {
		if got := d.sync("many"); d != first {
			require.Len(t, got.Conflicts, 1)
		}
	}
	require.Len(t, c.headOf(t, a.engine.SID("many")).Histories.Branches, devices)
	for i := range 3 {
		first.say("many", fmt.Sprint("on ", i))
		first.sync("many")
		require.Equal(t, Diverged, first.state("many").Last)
		found, err := a.Histories(t.Context(), "many")
		require.NoError(t, err)
		require.Len(t, found, devices)
		require.Equal(t, 4+i, found[0].Messages)
		require.Len(t, c.histories(t, a.engine.SID("many")), devices)
	}
	require.NoError(t, hold.Release())
	require.Len(t, first.sync("many").Conflicts, 1)
	found, err := a.Histories(t.Context(), "many")
	require.NoError(t, err)
	require.Len(t, found, devices)
	for _, b := range found {
		require.Equal(t, 2, b.Common)
	}
	require.NoError(t, a.Restore(t.Context(), "many", found[devices-1]))
	require.Equal(t, []string{"one", "two", "way 1"}, a.texts("many"))
}

// TestHistoriesExpire gives up more former heads than one request can remove. Branches stay,
// and all histories go with the session.
func TestHistoriesExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const rewinds, branches = 101, 3
		c := newCloud(t, nil)
		a := c.device(t, "a")
		a.say("s", "one", "two")
		a.sync()
		var others []*testDevice
		for i := range branches {
			d := c.device(t, fmt.Sprint("d", i), func(o *Options) { o.Conflict = Theirs })
			d.pull()
			d.say("s", fmt.Sprint("branch ", i))
			others = append(others, d)
		}
		for i := range rewinds {
			a.say("s", fmt.Sprint("way ", i))
			a.sync("s")
			a.cutTo("s", 2)
			a.sync("s")
		}
		a.say("s", "on")
		a.sync("s")
		for _, d := range others {
			_, err := d.Sync(t.Context(), "s")
			require.NoError(t, err)
		}
		sid := a.engine.SID("s")
		time.Sleep(8 * 24 * time.Hour)
		require.Zero(t, a.prune(nil).Expired)
		require.Len(t, c.histories(t, sid), rewinds+branches)

		time.Sleep(23 * 24 * time.Hour)
		require.Equal(t, rewinds, a.prune(nil).Expired)
		require.Len(t, c.histories(t, sid), branches)
		found, err := a.Histories(t.Context(), "s")
		require.NoError(t, err)
		require.Len(t, found, branches)
		time.Sleep(8 * 24 * time.Hour)
		a.prune(&PruneOptions{All: true})
		require.LessOrEqual(t, c.documents()["seg"], 3+branches, "the lines of the former heads are gone")
		for _, b := range found {
			require.NoError(t, a.Restore(t.Context(), "s", b))
		}

		require.NoError(t, a.Remove(t.Context(), "s"))
		require.Zero(t, c.documents()[head.TypeHistory])
		require.Zero(t, c.headOf(t, sid).Histories)
	})
}

// TestLostHistory loses the document of a former head: Branches tells, and nobody is hindered
// who does not decide by the list.
func TestLostHistory(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one")
	rewind := func(i int) {
		a.say("s", fmt.Sprint("way ", i))
		a.sync("s")
		a.cutTo("s", 1)
		a.sync("s")
	}
	for i := range 10 {
		rewind(i)
	}
	c.lose(t, c.histories(t, a.engine.SID("s"))[3].ID)
	all, err := a.Histories(t.Context(), "s")
	require.ErrorIs(t, err, ErrDamaged)
	require.Len(t, all, 9)
	require.NoError(t, a.Restore(t.Context(), "s", all[0]))
	a.cutTo("s", 1)
	a.sync("s")
	rewind(99)
	all, err = a.Histories(t.Context(), "s")
	require.ErrorIs(t, err, ErrDamaged, "it still is")
	require.Greater(t, len(all), 9)
}

// TestListThatLags lacks the document of a branch that another device is about to continue.
// Nobody who would remove or decide something by the list does, and all do when it is there.
func TestListThatLags(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(ctx context.Context, a, b *testDevice) error{
		"prune": func(ctx context.Context, a, _ *testDevice) error {
			_, err := a.Prune(ctx, &PruneOptions{Grace: time.Nanosecond, HistoryRetention: time.Nanosecond, All: true})
			return err
		},
		"recreate": func(ctx context.Context, a, _ *testDevice) error { return a.Recreate(ctx, "lags") },
		"own branch": func(ctx context.Context, _, b *testDevice) error {
			_, err := b.Sync(ctx, "lags")
			return err
		},
		"branches": func(ctx context.Context, a, _ *testDevice) error {
			_, err := a.Histories(ctx, "lags")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a"), c.device(t, "b")
			id := "lags"
			a.say(id, "one", "two")
			a.sync()
			b.pull()
			hold, err := b.Acquire(t.Context(), id, sessionstore.Owner{App: "test"})
			require.NoError(t, err)
			defer func() { require.NoError(t, hold.Release()) }()
			a.say(id, "a")
			a.sync()
			a.cutTo(id, 1)
			a.sync()
			b.say(id, "b")
			b.sync()
			require.Equal(t, Diverged, b.state(id).Last)
			b.say(id, "on")

			sid := a.engine.SID(id)
			before := c.histories(t, sid)
			require.Len(t, before, 2)
			own := before[slices.IndexFunc(before, func(h head.History) bool { return h.Branch() })]
			back := c.lose(t, own.ID)
			versions := (&formatWorld{cloud: c}).versions()
			time.Sleep(2 * time.Second) // what Prune may remove must be older than its second
			err = call(t.Context(), a, b)
			require.ErrorIs(t, err, ErrDamaged)
			require.Equal(t, versions, (&formatWorld{cloud: c}).versions(), "nothing was changed")

			back()
			if name == "recreate" {
				require.ErrorIs(t, call(t.Context(), a, b), ErrDeferred, "the branch has no session of its own")
				return
			}
			require.NoError(t, call(t.Context(), a, b))
			b.sync()
			found, err := a.Histories(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, 4, found[0].Messages)
			require.Len(t, slices.DeleteFunc(c.histories(t, sid), func(h head.History) bool { return !h.Branch() }), 1)
		})
	}
}

// TestHistoriesCostNothing: a session with histories costs a turn, a sync in step and a pull
// what it costs without. Nobody lists them.
func TestHistoriesCostNothing(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	var want []int
	for round := range 2 {
		id := fmt.Sprint("s", round)
		a.say(id, "one", "two")
		a.sync()
		b.pull()
		if round > 0 {
			b.say(id, "b")
			b.sync(id)
			a.say(id, "a")
			a.sync(id)
			b.pull()
			require.Len(t, c.histories(t, a.engine.SID(id)), 1)
		}
		var got []int
		count := func(do func()) {
			c.ResetCounters()
			do()
			got = append(got, c.Counters().Total.Requests)
		}
		a.say(id, "turn")
		count(func() { a.sync(id) })
		count(func() { a.sync(id) })
		count(func() { b.pull(id) })
		count(func() { b.sync(id) })
		a.cutTo(id, 1)
		count(func() { a.sync(id) })
		count(func() { b.pull(id) })
		if round == 0 {
			want = got
		}
		require.Equal(t, want, got)
	}
	require.Equal(t, []int{3, 1}, want[:2])
}

// historyMakers make a history, or give one up.
var historyMakers = map[string]func(ctx context.Context, a *testDevice) error{
	"rewind": func(ctx context.Context, a *testDevice) error {
		if len(a.texts("s")) > 1 {
			a.cutTo("s", 1)
		}
		_, err := a.Sync(ctx, "s")
		return err
	},
	"diverge": func(ctx context.Context, a *testDevice) error {
		_, err := a.Sync(ctx, "s")
		return err
	},
	"restore": func(ctx context.Context, a *testDevice) error {
		all, err := a.Histories(ctx, "s")
		if err != nil {
			return err
		}
		for _, b := range all {
			if b.Why == "rewrite" {
				return a.Restore(ctx, "s", b)
			}
		}
		return nil
	},
	"expire": func(ctx context.Context, a *testDevice) error {
		_, err := a.Prune(ctx, &PruneOptions{HistoryRetention: time.Hour, All: true})
		return err
	},
}

// plantHistories makes a session with a former head of 3 messages and a branch of 3.
func plantHistories(t *testing.T, c *cloud, a, b *testDevice) {
	t.Helper()
	a.say("s", "one", "two")
	a.sync()
	b.pull()
	b.say("s", "b")
	b.sync()
	a.say("s", "a")
	a.sync()
	a.cutTo("s", 2)
	a.sync()
	require.Len(t, c.histories(t, a.engine.SID("s")), 2)
	time.Sleep(2 * time.Hour)
}

// TestHistoriesAreNamedOnce ends a device between two requests of what makes or gives up a
// history, before and after the cloud does what is asked, and lets it try again. Each
// history is listed once, and none is lost.
func TestHistoriesAreNamedOnce(t *testing.T) {
	t.Parallel()
	for name, make := range historyMakers {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(name, after), func(t *testing.T) {
				t.Parallel()
				want, r := []string(nil), testenv.Rand(t)
				for n := 0; ; n += 1 + r.IntN(testenv.Share(2, 2, testenv.Further(2, 1))) {
					reached := n == 0
					synctest.Test(t, func(t *testing.T) {
						c, w := newCloud(t, nil), &tripwire{after: after}
						w.trip = func() { reached = true; w.kill(true) }
						a, b := c.device(t, "a", c.over(t, w), func(o *Options) { o.Conflict = Theirs }), c.device(t, "b")
						plantHistories(t, c, a, b)
						if name == "diverge" {
							a.cutTo("s", 1)
							a.say("s", "own")
							b.pull()
							b.say("s", "on")
							b.sync()
						}
						w.at = w.count() + n
						ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
						err := make(ctx, a)
						cancel()
						w.at = 0
						if n > 0 && reached {
							w.kill(false)
							c.histories(t, a.engine.SID("s"))
							time.Sleep(time.Minute)
							err = make(t.Context(), a)
						}
						require.NoError(t, err)
						a.sync()
						a.sync()
						var got []string
						for _, h := range c.histories(t, a.engine.SID("s")) {
							got = append(got, fmt.Sprint(h.Why, " ", h.Extent.N, " ", h.Device == a.engine.Device.ID))
						}
						slices.Sort(got)
						if n == 0 {
							want = got
						}
						require.Equal(t, want, got, "ended at request %d", n)
					})
					if !reached {
						require.Greater(t, n, 2)
						return
					}
				}
			})
		}
	}
}

// TestHistoriesAtOnce lets one device do what makes or gives up a history between two
// requests of another one that does, wherever that is. The head names what there is, and
// no history is lost.
func TestHistoriesAtOnce(t *testing.T) {
	t.Parallel()
	for name, make := range historyMakers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := testenv.Rand(t)
			for n := 1; ; n += 1 + r.IntN(testenv.Share(4, 4, testenv.Further(2, 1))) {
				reached := false
				synctest.Test(t, func(t *testing.T) {
					c, w := newCloud(t, nil), &tripwire{}
					theirs := func(o *Options) { o.Conflict = Theirs }
					a, b := c.device(t, "a", c.over(t, w), theirs), c.device(t, "b")
					plantHistories(t, c, a, b)
					d, e := c.device(t, "d", theirs), c.device(t, "e")
					d.pull()
					e.pull()
					d.cutTo("s", 1)
					d.say("s", "of d")
					e.say("s", "of e")
					w.trip = func() { // another head, and then a branch beside it
						reached = true
						e.sync("s")
						d.sync("s")
					}
					if name == "diverge" {
						a.say("s", "own")
					}
					w.at = w.count() + n
					err := make(t.Context(), a)
					if w.at = 0; !reached {
						w.trip()
						reached = false
					}
					a.sync()
					if errors.Is(err, ErrDeferred) {
						err = make(t.Context(), a)
					}
					require.NoError(t, err)
					all := c.histories(t, a.engine.SID("s"))
					found, err := a.Histories(t.Context(), "s")
					require.NoError(t, err)
					require.LessOrEqual(t, len(found), len(all))
					kept := a.texts("s")
					for _, b := range found {
						require.NoError(t, a.Restore(t.Context(), "s", b))
						kept = append(kept, a.texts("s")...)
					}
					for _, text := range []string{"of d", "of e", "one", "two"} {
						require.Contains(t, kept, text, "at request %d", n)
					}
					if name == "diverge" {
						require.Contains(t, kept, "own", "at request %d", n)
					}
				})
				if !reached {
					require.Greater(t, n, 2)
					return
				}
			}
		})
	}
}

// TestHistoriesOfAFormerSession loses the head, as the end of a tombstone's time does. The
// session that is sent anew has no histories of the former one, and Prune removes these.
func TestHistoriesOfAFormerSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a")
		rewind := func() {
			a.say("s", "way")
			a.sync()
			a.cutTo("s", 1)
			a.sync()
		}
		a.say("s", "one")
		rewind()
		sid := a.engine.SID("s")
		was := c.histories(t, sid)
		require.Len(t, was, 1)
		c.lose(t, segment.HeadID(sid))
		a.say("s", "two")
		a.sync()
		rewind()
		require.Equal(t, 2, c.documents()[head.TypeHistory])
		found, err := a.Histories(t.Context(), "s")
		require.NoError(t, err)
		require.Len(t, found, 1)
		time.Sleep(8 * 24 * time.Hour)
		a.prune(&PruneOptions{All: true})
		require.NotEqual(t, was, c.histories(t, sid))
		require.Len(t, c.histories(t, sid), 1)
	})
}
