package hybrid

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func (r *testDevice) recreate(ids ...string) {
	r.t.Helper()
	require.NoError(r.t, r.Recreate(context.Background(), ids...))
}

func (r *testDevice) remove(ids ...string) {
	r.t.Helper()
	require.NoError(r.t, r.Remove(context.Background(), ids...))
}

// wholeInCloud requires a new device to get what r has of a session, byte by byte.
func (c *cloud) wholeInCloud(t testing.TB, r *testDevice, id string) {
	t.Helper()
	fresh := c.device(t, "fresh"+t.Name())
	fresh.pull(id)
	for _, name := range []string{"transcript.jsonl", "metadata.json"} {
		require.Equal(t, r.file(id, name), fresh.file(id, name), name)
	}
	report, err := fresh.Check(t.Context(), id, nil)
	require.NoError(t, err, report)
}

// TestRecreate brings back what was deleted or removed by mistake, on the device that has
// more, that which has less, and one that only knows the tombstone.
func TestRecreate(t *testing.T) {
	t.Parallel()
	for name, remove := range removals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a"), c.device(t, "b")
			a.say("s", "one", "two")
			a.setMember("s", "name", "a name")
			a.appendTo("s", "events.jsonl", timedEvents("s", 0, 20))
			a.put("s", "config.md", "the rules")
			a.sync()
			b.pull()
			require.NoError(t, remove(b))
			a.say("s", "three")
			_, err := a.Sync(t.Context(), "s")
			require.ErrorIs(t, err, ErrRemoved)
			b.sync()
			require.Equal(t, Removed, b.state("s").State)

			a.recreate("s")
			require.Equal(t, UpToDate, a.state("s").State)
			c.wholeInCloud(t, a, "s")
			list, err := a.Remote(t.Context())
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.False(t, list[0].Removed)
			require.Equal(t, "a name", list[0].Name)
			require.Equal(t, 3, list[0].Messages)

			b.sync()
			require.Equal(t, []string{"one", "two", "three"}, b.texts("s"))
			require.Equal(t, UpToDate, b.state("s").State)
			b.say("s", "four")
			b.sync("s")
			a.sync("s")
			require.Equal(t, b.texts("s"), a.texts("s"))
			require.Equal(t, 1, len(a.ids())*len(b.ids()), "no copies")
			a.recreate("s")
			require.Zero(t, a.sync().Pushed+b.sync().Pushed, "again is nothing to do")
			require.NoError(t, remove(a))
			a.recreate("s")
			b.recreate("s")
			c.wholeInCloud(t, a, "s")
		})
	}
}

// TestRecreateFromBehind: who recreates has fewer lines than others.
func TestRecreateFromBehind(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b, apart := c.device(t, "a"), c.device(t, "b"), c.device(t, "apart")
	a.say("s", "one", "two")
	a.sync()
	b.pull()
	apart.pull()
	apart.say("s", "from apart")
	b.say("s", "three")
	b.sync()
	b.remove("s")
	b.say("s", "four")
	a.recreate("s")
	require.Equal(t, []string{"one", "two"}, a.texts("s"))
	b.sync()
	a.sync()
	require.Equal(t, []string{"one", "two", "three", "four"}, a.texts("s"), "what b has more of is added")
	got := apart.sync()
	require.Len(t, got.Conflicts, 1, "what went another way is kept")
	require.Equal(t, a.texts("s"), apart.texts("s"))
	require.Equal(t, []string{"one", "two", "from apart"}, apart.texts(got.Conflicts[0].KeptAs))
	require.Len(t, b.ids(), 1)
}

// TestRecreateComesToWhoRemovedIt: the tombstone removed no file, but its reader may have.
func TestRecreateComesToWhoRemovedIt(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, before, after, seen := c.device(t, "a"), c.device(t, "before"), c.device(t, "after"), c.device(t, "seen")
	a.say("s", "one", "two")
	a.sync()
	before.pull()
	after.pull()
	seen.pull()
	require.NoError(t, before.Delete(t.Context(), "s"))
	before.sync()
	a.remove("s")
	after.sync("s")
	require.NoError(t, after.Delete(t.Context(), "s"))
	seen.sync("s")
	require.NoError(t, seen.Delete(t.Context(), "s"))
	_, err := seen.Sync(t.Context(), "s")
	require.ErrorIs(t, err, ErrRemoved)
	before.pull()
	a.recreate("s")
	require.Equal(t, 1, after.pull().Pulled)
	require.Equal(t, 1, seen.pull().Pulled)
	require.Zero(t, before.pull().Pulled, "it was removed there while the cloud had it")
	require.False(t, before.Exists("s"))
	require.Equal(t, a.texts("s"), after.texts("s"))
	require.Equal(t, a.texts("s"), seen.texts("s"))
	require.NoError(t, after.Delete(t.Context(), "s"))
	require.Zero(t, after.pull().Pulled, "it was removed once more, while the cloud has it")
}

// TestRecreateInTheBackground: the catalogue tells running devices of it.
func TestRecreateInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		running := func(o *Options) { o.Manual = false }
		a, b, empty := c.device(t, "a"), c.device(t, "b", running), c.device(t, "empty", running)
		a.say("s", "one", "two")
		a.sync()
		time.Sleep(15 * time.Minute)
		require.Equal(t, a.texts("s"), b.texts("s"))
		require.NoError(t, empty.Delete(t.Context(), "s"))
		time.Sleep(15 * time.Minute)
		a.remove("s")
		time.Sleep(15 * time.Minute)
		require.Equal(t, Removed, b.state("s").State)
		b.say("s", "three")
		time.Sleep(15 * time.Minute)
		a.recreate("s")
		time.Sleep(15 * time.Minute)
		require.Equal(t, UpToDate, b.state("s").State)
		a.sync("s")
		require.Equal(t, []string{"one", "two", "three"}, a.texts("s"))
		require.False(t, empty.Exists("s"))
		b.remove("s")
		time.Sleep(15 * time.Minute)
		require.NoError(t, b.Delete(t.Context(), "s"))
		time.Sleep(15 * time.Minute)
		a.recreate("s")
		time.Sleep(15 * time.Minute)
		require.Equal(t, a.texts("s"), b.texts("s"))
		time.Sleep(time.Hour)
	})
}

// TestRecreateIsRefused names what Recreate does not do, and requires the tombstone to stay.
func TestRecreateIsRefused(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	secrets := func(o *Options) { o.Redact = Secrets() }
	a, other, none := c.device(t, "a", secrets), c.device(t, "other", secrets), c.device(t, "none", secrets)
	plain := c.device(t, "plain")
	for _, id := range []string{"local", "denied-late", "redacted", "held"} {
		a.say(id, "MARK "+id)
	}
	a.sync()
	plain.pull()
	a.remove(a.ids()...)
	require.NoError(t, a.KeepLocal(t.Context(), "local"))
	denying := c.deviceAt(t, a.Dir(), "a", secrets, func(o *Options) { o.Private = []string{"denied*"} })
	a.put("held", "metadata.json", "{")
	require.NoError(t, os.RemoveAll(filepath.Join(a.Dir(), "held", "metadata.json.backup")))
	before := c.documents()
	for _, one := range []struct {
		d    *testDevice
		id   string
		want error
	}{
		{denying, "local", ErrLocal},
		{denying, "denied-late", ErrLocal},
		{denying, "held", ErrHeld},
		{plain, "redacted", ErrRedaction},
		{none, "redacted", sessionstore.ErrNotFound},
		{other, "unknown", sessionstore.ErrNotFound},
	} {
		c.ResetCounters()
		err := one.d.Recreate(t.Context(), one.id)
		require.ErrorIs(t, err, one.want)
		require.True(t, one.want != ErrLocal || c.Counters().Total.Requests == 0, "a rule needs no answer")
		require.ErrorContains(t, err, one.id)
		require.NotContains(t, err.Error(), "MARK")
	}
	require.Equal(t, before, c.documents())
	require.Empty(t, c.stored(t, "MARK"))
	require.Error(t, a.Recreate(t.Context()), "nobody recreates all sessions by mistake")
	err := denying.Recreate(t.Context(), "local", "redacted")
	require.ErrorIs(t, err, ErrLocal)
	require.NotEmpty(t, c.stored(t, "MARK redacted"), "the others go on")
	requireContainer(t, (*Store).Recreate)
}

// TestRecreateUnderLaterRules sends all lines and files under the rules of today, and devices
// that know the forms of before do not take what differs for changes.
func TestRecreateUnderLaterRules(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	rules := &simRules{}
	under := func(o *Options) { o.Redact = rules }
	a, b := c.device(t, "a", under), c.device(t, "b", under)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	a.say("s", "one", "token "+secret, "three")
	a.setMember("s", "note", secret)
	a.put("s", "config.md", "line\n"+secret+"\n")
	a.appendTo("s", "events.jsonl", fmt.Sprintf("{\"event\": %q}\n", secret))
	a.sync()
	b.pull()
	b.say("s", "not sent")
	a.remove("s")
	rules.later.Add(1)
	a.recreate("s")
	require.Empty(t, c.stored(t, secret, "[redacted:github"), "forms of before")
	require.NotEmpty(t, c.stored(t, "[redacted:later-1-"))
	b.sync()
	a.sync()
	require.Len(t, b.ids(), 1, "no copy")
	require.Equal(t, "not sent", a.texts("s")[3])
	require.Contains(t, a.file("s", "config.md"), secret, "files here stay")
	require.Empty(t, c.stored(t, secret, "[redacted:github"), "forms of before")
	require.Zero(t, a.sync().Pushed+b.sync().Pushed+a.sync().Pushed)
}

// TestRecreateWithoutATombstone: it is lost, and only this device or the catalogue tells of
// it.
func TestRecreateWithoutATombstone(t *testing.T) {
	t.Parallel()
	for _, forgets := range []bool{false, true} {
		t.Run(fmt.Sprint("forgets ", forgets), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud(t, nil)
				a, b := c.device(t, "a"), c.device(t, "b")
				a.say("s", "one", "two")
				a.sync()
				b.pull()
				a.say("s", "three")
				a.sync()
				a.say("s", "four")
				a.sync()
				b.remove("s")
				a.sync("s")
				c.lose(t, segment.HeadID(a.engine.SID("s")))
				if forgets {
					require.NoError(t, os.RemoveAll(filepath.Join(a.Dir(), ".sessionstore", "sync")))
					a = c.deviceAt(t, a.Dir(), "a")
				}
				require.Zero(t, c.documents()["head"])
				require.Equal(t, 1, c.documents()["cat"])
				a.recreate("s")
				b.sync()
				require.Equal(t, a.texts("s"), b.texts("s"))
				fresh := c.device(t, "fresh")
				fresh.pull()
				require.Equal(t, a.texts("s"), fresh.texts("s"), "the catalogue tells of it")
			})
		})
	}
}

// TestRecreateOfAFamily: forks do not count on lines of a session that may go again.
func TestRecreateOfAFamily(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	h := newHousehold(t, c)
	h.a.remove(h.family...)
	h.requireRemoved(t, "")
	h.a.recreate(h.family...)
	for _, id := range h.family {
		c.wholeInCloud(t, h.a, id)
	}
	require.NoError(t, h.a.Remove(t.Context(), "s"), "no fork needs its lines")
	for _, id := range h.family[:len(h.family)-1] {
		if id != "s" {
			c.wholeInCloud(t, h.a, id)
		}
	}
}

// TestRecreateBesideDevices lets another device do all of something between two requests of
// a Recreate, and a Recreate between two requests of the other device. Whoever is last, the
// cloud then has a whole session, or none; and no device lost a line.
func TestRecreateBesideDevices(t *testing.T) {
	t.Parallel()
	others := removals()
	others["recreate"] = func(d *testDevice) error { return d.Recreate(d.t.Context(), "s") }
	others["sync"] = func(d *testDevice) error {
		_, err := d.Sync(d.t.Context(), "s")
		return err
	}
	others["prune"] = func(d *testDevice) error {
		_, err := d.Prune(d.t.Context(), atOnceOf(), "s")
		return err
	}
	for name, do := range others {
		for _, first := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " first ", first), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { besideRecreate(t, do, first) })
			})
		}
	}
}

func besideRecreate(t *testing.T, do func(*testDevice) error, first bool) {
	r := testenv.Rand(t)
	for n := 1; ; n += sparsely(r, 2) {
		c := newCloud(t, nil)
		w := &tripwire{}
		wired, plain := c.device(t, "wired", c.over(t, w)), c.device(t, "plain")
		a, other := wired, plain
		if first {
			a, other = plain, wired
		}
		share([]*testDevice{a, other}, append(manyRequests(), "two")...)
		other.say("s", "of the other one")
		a.say("s", "of a")
		old := c.device(t, "old")
		old.pull()
		old.say("s", "old and alone")
		c.device(t, "remover").remove("s")
		if _, err := other.Prune(t.Context(), atOnceOf(), "s"); err != nil {
			require.ErrorIs(t, err, ErrContended)
		}
		why := fmt.Sprintf("at request %d", n)
		var recreated, done error
		tripped := false
		act := func() { done = do(other) }
		back := func() { recreated = a.Recreate(t.Context(), "s") }
		if first {
			w.arm(n, func() { tripped = true; back() })
			act()
		} else {
			w.arm(n, func() { tripped = true; act() })
			back()
		}
		if !tripped {
			require.Greater(t, n, 1)
			return
		}
		// The other one may have recreated it before, and both went on: what is kept is to be synced first.
		require.True(t, recreated == nil || errors.Is(recreated, ErrDeferred), "%s: %v", why, recreated)
		if done != nil {
			require.True(t, errors.Is(done, ErrRemoved) || errors.Is(done, ErrContended) || errors.Is(done, ErrDeferred), "%s: %v", why, done)
		}
		w.kill(false)
		for _, d := range []*testDevice{a, other, old, a, other} {
			if _, err := d.Sync(t.Context()); err != nil {
				require.ErrorIs(t, err, ErrRemoved, why)
			}
		}
		for d, text := range map[*testDevice]string{a: "of a", other: "of the other one", old: "old and alone"} {
			require.Contains(t, d.everything(), text, why)
		}
		if a.state("s").State != Removed {
			report, err := a.Check(t.Context(), "s", nil)
			require.NoError(t, err, "%s: %+v", why, report)
			require.Equal(t, a.texts("s"), other.texts("s"), why)
			require.Equal(t, a.texts("s"), old.texts("s"), why)
		}
	}
}

// everything returns the texts of all sessions here.
func (r *testDevice) everything() (all []string) {
	r.t.Helper()
	for _, id := range r.ids() {
		all = append(all, r.texts(id)...)
	}
	return all
}
