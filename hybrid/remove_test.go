package hybrid

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// household is a session with all that the cloud can hold of one, and its family.
type household struct {
	*cloud
	a, b   *testDevice
	texts  []string // marks, one in each place
	family []string
	others int // devices that came later
}

// newcomers counts the devices that come later, for their names.
func (h *household) newcomers() int {
	h.others++
	return h.others
}

// mark returns a text that stands nowhere else.
func (h *household) mark(place string) string {
	text := fmt.Sprintf("MARK-%s-%d.", place, len(h.texts))
	h.texts = append(h.texts, text)
	return text
}

func newHousehold(t *testing.T, c *cloud) *household {
	t.Helper()
	h := &household{cloud: c, a: c.device(t, "a"), b: c.device(t, "b", func(o *Options) { o.Conflict = Theirs })}
	a, b := h.a, h.b
	a.say("s", h.mark("line")+noise(6<<10), "answer", h.mark("more"))
	a.appendTo("s", "events.jsonl", timedEvents("s", 0, 20)+fmt.Sprintf("{\"event\": %q}\n", h.mark("log")))
	a.put("s", "config.md", h.mark("file")+noise(9<<10))
	a.setMember("s", "name", h.mark("name"))
	a.setMember("s", "note", h.mark("metadata"))
	a.sync()
	b.pull()
	a.say("s", h.mark("long")+noise(300<<10), h.mark("rewound"))
	a.sync()
	a.cutTo("s", 3)
	a.sync()
	b.say("s", h.mark("branch")+noise(300<<10))
	b.appendTo("s", "events.jsonl", fmt.Sprintf("{\"event\": %q}\n", h.mark("their-log")))
	b.sync()
	a.put("s", "config.md", h.mark("new-file"))
	a.say("s", h.mark("last"))
	a.sync()
	fork := a.fork("s")
	a.say(fork, h.mark("fork"))
	a.sync(fork)
	grand := a.fork(fork)
	a.say(grand, h.mark("grandchild"))
	a.sync(grand)
	a.sync() // the copy that the divergence left
	h.family = a.ids()
	require.Len(t, h.family, 4)
	a.say("other", "of another family")
	a.sync("other")
	require.Equal(t, h.texts, c.stored(t, h.texts...), "all is there, and is found")
	return h
}

// requireRemoved requires that nothing is left but tombstones and what is of others.
func (h *household) requireRemoved(t *testing.T, why string) {
	t.Helper()
	require.Empty(t, h.stored(t, h.texts...), why)
	require.Equal(t, []string{"of another family"}, h.stored(t, "of another family"), why)
}

// TestRemoveLeavesNoText reads every document of the container back, and decodes it.
func TestRemoveLeavesNoText(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	h := newHousehold(t, c)
	a, b := h.a, h.b
	before := c.documents()
	for _, id := range h.family {
		family := b.family(id)
		require.ElementsMatch(t, h.family, family)
	}
	require.Equal(t, before, c.documents(), "nothing was changed")

	require.NoError(t, b.Remove(t.Context(), h.family...))
	h.requireRemoved(t, "")
	require.Equal(t, map[string]int{"head": 5, "cat": 5, "seg": 1}, c.documents(), "tombstones, their entries, and the other session")
	require.NoError(t, a.Remove(t.Context(), h.family...), "again")

	here := a.texts("s")
	require.Zero(t, a.sync().Pushed+b.sync().Pushed)
	require.Equal(t, here, a.texts("s"), "files stay")
	for _, id := range h.family {
		require.Equal(t, Removed, a.state(id).State)
	}
	require.Equal(t, Removed, b.state("s").State)
	b.say("s", h.mark("later"))
	_, err := b.Sync(t.Context())
	require.ErrorIs(t, err, ErrRemoved)
	h.requireRemoved(t, "and it does not come back")
	fresh := c.device(t, "fresh")
	fresh.pull()
	require.Equal(t, []string{"other"}, fresh.ids())
	_, err = fresh.Pull(t.Context(), "s")
	require.ErrorIs(t, err, ErrRemoved)
	list, err := fresh.Remote(t.Context())
	require.NoError(t, err)
	for _, r := range list {
		require.Equal(t, r.SessionID != "other", r.Removed)
	}
}

// TestRemoveOfCopies: a fork, and the copy that a divergence left, are sessions of their
// own and keep the text. Their entries name what they come from, as those of sub-sessions do,
// also when that was removed.
func TestRemoveOfCopies(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "MARK one", "two")
	a.sync()
	b.pull()
	a.say("s", "three")
	a.sync()
	b.say("s", "another three")
	b.sync()
	require.Len(t, b.ids(), 2, "a copy")
	b.sync()
	fork := a.fork("s")
	a.sync(fork)
	a.child("sub", "s")
	a.sync("sub")
	a.say("other", "of another family")
	a.sync("other")
	family := a.family("s")
	require.ElementsMatch(t, append(b.ids(), fork, "sub"), family)
	require.NoError(t, a.Remove(t.Context(), "s"))
	require.Equal(t, []string{"MARK one"}, c.stored(t, "MARK one"))
	for _, id := range family {
		left := a.family(id)
		want := family
		if id != "s" {
			want = slices.DeleteFunc(slices.Clone(family), func(id string) bool { return id == "s" })
		}
		require.ElementsMatch(t, want, left, "what was removed connects them, and is named no more")
	}
	require.NoError(t, a.Remove(t.Context(), fork))
	require.NotEmpty(t, c.stored(t, "MARK one"), "the copy stays")
	require.NoError(t, a.Remove(t.Context(), family...))
	require.Empty(t, c.stored(t, "MARK one", "three", "text of sub"))
	require.NotEmpty(t, c.stored(t, "of another family"))
	alone := a.family("other", "unknown")
	require.Equal(t, []string{"other", "unknown"}, alone)
}

// TestRemoveOfALocalSession removes what was sent before a session became local only, and
// keeps it local.
func TestRemoveOfALocalSession(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "MARK one")
	a.sync()
	require.NoError(t, a.KeepLocal(t.Context(), "s"))
	require.NotEmpty(t, c.stored(t, "MARK one"))
	require.NoError(t, a.Remove(t.Context(), "s"))
	require.Empty(t, c.stored(t, "MARK one"))
	a.say("s", "MARK two")
	require.Zero(t, a.sync().Pushed)
	require.Equal(t, Local, a.state("s").State)
	require.Equal(t, []string{"MARK one", "MARK two"}, a.texts("s"))

	a.say("never sent", "x")
	for _, id := range []string{"never sent", "unknown"} {
		before := c.documents()
		err := a.Remove(t.Context(), "s", id)
		require.ErrorIs(t, err, sessionstore.ErrNotFound)
		require.NotContains(t, err.Error(), "file ")
		require.ErrorContains(t, err, id)
		require.Equal(t, before, c.documents())
	}
	require.Error(t, a.Remove(t.Context()), "nobody removes all sessions by mistake")
	requireContainer(t, (*Store).Remove)
}

// requireContainer requires a call that removes or sends sessions to refuse a store without a
// container.
func requireContainer(t *testing.T, call func(*Store, context.Context, ...string) error) {
	t.Helper()
	local, err := Open(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	require.ErrorIs(t, call(local, t.Context(), "s"), ErrNoRemote)
	require.NoError(t, local.Close())
}

// TestRemoveOfAFirstUpload removes what a device left that was killed in its first upload,
// and one that is under way.
func TestRemoveOfAFirstUpload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, killed := range []bool{true, false} {
			for at := 1; ; at++ {
				c := newCloud(t, nil)
				other := c.device(t, "other")
				w := &tripwire{at: at}
				var removed error
				tripped := false
				w.trip = func() {
					tripped = true
					if killed {
						w.kill(true)
					} else {
						removed = other.Remove(t.Context(), "s")
					}
				}
				a := c.device(t, "a", c.over(t, w))
				a.setMemberOfNew("s", "MARK name")
				a.put("s", "transcript.jsonl", messages(2, "MARK text "+noise(1200<<10)))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				_, err := a.Sync(ctx, "s")
				cancel()
				if !tripped {
					require.NoError(t, err)
					require.Greater(t, at, 4)
					break
				}
				if killed {
					removed = other.Remove(t.Context(), "s")
				} else if removed == nil {
					require.ErrorIs(t, err, ErrRemoved, "at request %d", at)
				}
				if removed != nil {
					require.ErrorIs(t, removed, sessionstore.ErrNotFound, "at request %d", at)
					continue
				}
				require.Empty(t, c.stored(t, "MARK"), "killed %v at request %d", killed, at)
			}
		}
	})
}

// setMemberOfNew makes a session with a name.
func (r *testDevice) setMemberOfNew(id, name string) {
	r.t.Helper()
	r.say(id, "x")
	r.setMember(id, "name", name)
}

// messages are lines with a text each, and a number.
func messages(n int, text string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"role\": \"user\", \"content\": \"%d %s\"}\n", i, text)
	}
	return b.String()
}

// TestRemoveIsKilled ends a Remove at each of its requests, before it is done and after.
// What is left are whole sessions and tombstones, and the next remove finishes.
func TestRemoveIsKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		h := newHousehold(t, c)
		began := c.Snapshot()
		r := testenv.Rand(t)
		for _, after := range []bool{false, true} {
			for n := 1; ; n += sparsely(r, 1) {
				c.Restore(began)
				why := fmt.Sprintf("killed at request %d, after it %v", n, after)
				killed := false
				w := &tripwire{at: n, after: after}
				w.trip = func() { killed = true; w.kill(true) }
				d := c.device(t, fmt.Sprint("killed", n, after), c.over(t, w))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				err := d.Remove(ctx, h.family...)
				cancel()
				if !killed {
					require.NoError(t, err)
					require.Greater(t, n, 20)
					break
				}
				reader := c.device(t, fmt.Sprint("reader", n, after))
				for _, id := range h.family {
					if _, err := reader.Pull(t.Context(), id); err != nil {
						require.ErrorIs(t, err, ErrRemoved, why)
						continue
					}
					require.Equal(t, h.a.texts(id), reader.texts(id), why)
				}
				require.NoError(t, reader.Remove(t.Context(), h.family...), why)
				h.requireRemoved(t, why)
			}
		}
	})
}

// TestRemoveBesideDevices lets another device do all of something between two requests
// of a Remove, and a Remove between two requests of the other device.
func TestRemoveBesideDevices(t *testing.T) {
	t.Parallel()
	changes := map[string]func(t *testing.T, d *testDevice, h *household) error{
		"push": func(t *testing.T, d *testDevice, h *household) error {
			d.say("s", h.mark("pushed")+noise(100))
			_, err := d.Sync(t.Context(), "s")
			return err
		},
		"push of more than a batch": func(t *testing.T, d *testDevice, h *household) error {
			d.put("s", "transcript.jsonl", d.file("s", "transcript.jsonl")+messages(2, h.mark("pushed")+noise(1200<<10)))
			_, err := d.Sync(t.Context(), "s")
			return err
		},
		"pull": func(t *testing.T, _ *testDevice, h *household) error {
			d := h.device(t, fmt.Sprint("puller", h.newcomers()))
			_, err := d.Pull(t.Context(), "s")
			if err == nil {
				require.NotEmpty(t, d.texts("s"))
			}
			return err
		},
		"repair": func(t *testing.T, d *testDevice, h *household) error {
			for _, doc := range h.Docs(testDatabase, testContainer) {
				if strings.HasPrefix(doc.ID, d.engine.SID("s")+"-s-t-") {
					require.NoError(t, h.Remove(testDatabase, testContainer, doc.Partition, doc.ID))
				}
			}
			_, err := d.Check(t.Context(), "s", &CheckOptions{Mend: true})
			return err
		},
		"prune": func(t *testing.T, d *testDevice, _ *household) error {
			_, err := d.Prune(t.Context(), atOnceOf(), "s")
			return err
		},
	}
	for _, name := range testenv.Some(t, 1, slices.Sorted(maps.Keys(changes))...) {
		do := changes[name]
		for _, removeFirst := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " remove first ", removeFirst), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { besideRemove(t, do, removeFirst) })
			})
		}
	}
}

func besideRemove(t *testing.T, do func(t *testing.T, d *testDevice, h *household) error, removeFirst bool) {
	c := newCloud(t, nil)
	h := newHousehold(t, c)
	began := c.Snapshot()
	r := testenv.Rand(t)
	for n := 1; ; n += sparsely(r, 2) {
		c.Restore(began)
		marks := len(h.texts)
		w := &tripwire{}
		tripped := false
		wired := c.device(t, fmt.Sprint("wired", n), c.over(t, w))
		plain := c.device(t, fmt.Sprint("plain", n))
		remover, other := plain, wired
		if removeFirst {
			remover, other = wired, plain
		}
		other.pull("s")
		var removed, done error
		remove := func() { removed = remover.Remove(t.Context(), h.family...) }
		act := func() { done = do(t, other, h) }
		if removeFirst {
			w.arm(n, func() { tripped = true; act() })
			remove()
		} else {
			w.arm(n, func() { tripped = true; remove() })
			act()
		}
		if !tripped && (removeFirst || n > 1) {
			require.Greater(t, n, 1)
			return
		}
		if !tripped {
			remove()
		}
		why := fmt.Sprintf("at request %d: %v", n, done)
		require.NoError(t, removed, why)
		if done != nil {
			require.ErrorIs(t, done, ErrRemoved, why)
		}
		h.requireRemoved(t, why)
		h.texts = h.texts[:marks]
	}
}

// arm lets the wire trip at one of the requests from now on.
func (w *tripwire) arm(at int, trip func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n, w.at, w.trip = 0, at, trip
}

// storedIn returns which of some texts a container in memory holds of sessions.
func storedIn(t *testing.T, c *memremote.Remote, d *testDevice, ids []string, texts ...string) []string {
	t.Helper()
	pks := []string{segment.UserPK(d.engine.UID())}
	for _, id := range ids {
		pks = append(pks, segment.SessionPK(d.engine.SID(id)))
	}
	var bodies [][]byte
	for _, pk := range pks {
		for o, err := range c.List(t.Context(), pk, remote.Query{}) {
			require.NoError(t, err)
			whole, err := c.Get(t.Context(), pk, o.Name, "")
			require.NoError(t, err)
			bodies = append(bodies, slices.Concat([]byte(o.Name), whole.Label, whole.Body))
		}
	}
	return found(t, bodies, texts)
}

// TestRemoveInMemory lets the container in memory refuse each request of a Remove.
func TestRemoveInMemory(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		left := -1
		c := &memremote.Remote{Refuse: func() error {
			if left--; left == 0 {
				return errCrash
			}
			return nil
		}}
		a, b := inMemory(t, c, "a"), inMemory(t, c, "b")
		a.engine.Alone, b.engine.Alone = true, true
		a.say("s", "MARK one "+noise(5<<10), "two")
		a.sync()
		fork := a.fork("s")
		a.say(fork, "MARK fork")
		a.sync()
		b.pull()
		family := []string{"s", fork}
		require.Equal(t, []string{"MARK one", "MARK fork"}, storedIn(t, c, a, family, "MARK one", "MARK fork"))
		left = n
		err := a.Remove(t.Context(), family...)
		done := left > 0
		if left = -1; err != nil {
			require.ErrorIs(t, err, errCrash)
			require.False(t, done)
			require.NoError(t, a.Remove(t.Context(), family...))
		}
		require.Empty(t, storedIn(t, c, a, family, "MARK"), "refused at request %d", n)
		if done {
			require.Greater(t, n, 8)
			return
		}
	}
}
