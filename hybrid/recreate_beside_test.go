package hybrid

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// requireAnew requires that the family was written anew, and that nothing else changed.
func (h *household) requireAnew(t *testing.T, reader *testDevice, why string) {
	t.Helper()
	require.Empty(t, h.stored(t, "MARK-"), why)
	require.Equal(t, []string{"of another family"}, h.stored(t, "of another family"), why)
	for _, id := range h.family {
		reader.pull(id)
		want := strings.ReplaceAll(strings.Join(h.a.texts(id), "\n"), "MARK-", "[redacted:word]")
		require.Equal(t, want, strings.ReplaceAll(strings.Join(reader.texts(id), "\n"), "MARK-", "[redacted:word]"), why)
		_, err := reader.Check(t.Context(), id, nil)
		require.NoError(t, err, why)
	}
}

// TestRecreateFaults lets each request of a Recreate fail once, in each way.
func TestRecreateFaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		h := newHousehold(t, c)
		h.under(t, marked)
		began := c.Snapshot()
		r := testenv.Rand(t)
		faults := map[string]cosmostest.Fault{
			"drop": cosmostest.Drop(), "lose": cosmostest.LoseAnswer(), "503": cosmostest.Refuse(503, 0), "412": cosmostest.Refuse(412, 0),
			"413": cosmostest.Refuse(413, 0), "429": cosmostest.Refuse(429, 20*time.Millisecond), "duplicate": cosmostest.Duplicate(),
		}
		for _, name := range testenv.Some(t, 1, slices.Sorted(maps.Keys(faults))...) {
			fault := faults[name]
			for at := 1 + r.IntN(4); ; at += sparsely(r, 8) {
				c.Restore(began)
				reached := false
				first := 0
				c.Inject(cosmostest.Data(func(q cosmostest.Request) cosmostest.Fault {
					if first == 0 {
						first = q.N
					}
					if q.N-first != at {
						return cosmostest.Fault{}
					}
					reached = true
					return fault
				}))
				d := c.device(t, fmt.Sprint("faulty", name, at), with(marked))
				var err error
				for range 4 {
					if err = d.Recreate(t.Context(), h.family...); err == nil {
						break
					}
					time.Sleep(time.Second)
				}
				c.Inject(nil)
				why := fmt.Sprintf("%s at request %d", name, at)
				require.NoError(t, err, why)
				h.requireAnew(t, c.device(t, fmt.Sprint("reader", name, at), with(marked)), why)
				if !reached {
					require.Greater(t, at, 20)
					break
				}
			}
		}
	})
}

// TestRecreateOfAFamilyBesideDevices lets another device do all of something between two requests of
// a Recreate, and a Recreate between two requests of the other device.
func TestRecreateOfAFamilyBesideDevices(t *testing.T) {
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
		"events": func(t *testing.T, d *testDevice, h *household) error {
			d.appendTo("s", "events.jsonl", fmt.Sprintf("{\"event\": %q}\n", h.mark("event")))
			_, err := d.Sync(t.Context(), "s")
			return err
		},
		"rewind": func(t *testing.T, d *testDevice, _ *household) error {
			d.cutTo("s", 2)
			_, err := d.Sync(t.Context(), "s")
			return err
		},
		"metadata": func(t *testing.T, d *testDevice, h *household) error {
			d.setMember("s", "name", h.mark("renamed"))
			_, err := d.Sync(t.Context(), "s")
			return err
		},
		"first pull": func(t *testing.T, d *testDevice, _ *household) error {
			_, err := d.Pull(t.Context(), "s")
			if err == nil {
				require.NotEmpty(t, d.texts("s"))
			}
			return err
		},
		"prune": func(t *testing.T, d *testDevice, _ *household) error {
			_, err := d.Prune(t.Context(), atOnceOf(), "s")
			return err
		},
	}
	for _, name := range testenv.Some(t, 1, slices.Sorted(maps.Keys(changes))...) {
		do := changes[name]
		for _, recreateFirst := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " recreate first ", recreateFirst), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { besideAnew(t, do, recreateFirst, name == "first pull") })
			})
		}
	}
}

func besideAnew(t *testing.T, do func(t *testing.T, d *testDevice, h *household) error, recreateFirst, fresh bool) {
	c := newCloud(t, nil)
	h := newHousehold(t, c)
	h.under(t, marked)
	began := c.Snapshot()
	r := testenv.Rand(t)
	for n := 1; ; n += sparsely(r, 2) {
		c.Restore(began)
		marks := len(h.texts)
		w := &tripwire{}
		tripped := false
		wired := c.device(t, fmt.Sprint("wired", n), with(marked), c.over(t, w))
		plain := c.device(t, fmt.Sprint("plain", n), with(marked))
		writer, other := plain, wired
		if recreateFirst {
			writer, other = wired, plain
		}
		if !fresh {
			other.pull("s")
		}
		var anew, done error
		recreate := func() { anew = writer.Recreate(t.Context(), h.family...) }
		act := func() { done = do(t, other, h) }
		if recreateFirst {
			w.arm(n, func() { tripped = true; act() })
			recreate()
		} else {
			w.arm(n, func() { tripped = true; recreate() })
			act()
		}
		if !tripped {
			require.Greater(t, n, 1)
			return
		}
		why := fmt.Sprintf("at request %d", n)
		require.NoError(t, anew, why)
		if done != nil {
			require.ErrorIs(t, done, ErrRemoved, why)
		}
		require.Empty(t, c.stored(t, "MARK-"), why)
		for range 2 {
			require.Empty(t, other.sync("s").Conflicts, why)
		}
		require.Zero(t, other.sync("s").Pushed, why)
		reader := c.device(t, fmt.Sprint("reader", n), with(marked))
		reader.pull("s")
		clean := func(d *testDevice) string {
			return strings.ReplaceAll(strings.Join(d.texts("s"), "\n"), "MARK-", "[redacted:word]")
		}
		require.Equal(t, clean(other), clean(reader), why)
		require.Empty(t, c.stored(t, "MARK-"), why)
		_, err := reader.Check(t.Context(), "s", nil)
		require.NoError(t, err, why)
		h.texts = h.texts[:marks]
	}
}

// TestRecreateInMemory lets the container in memory refuse each request of a Recreate.
func TestRecreateInMemory(t *testing.T) {
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
		a.say("s", "MARK-one "+noise(5<<10), "two")
		a.sync()
		fork := a.fork("s")
		a.say(fork, "MARK-fork")
		a.sync()
		b.pull()
		a.engine.Privacy.Redact, b.engine.Privacy.Redact = marked, marked
		family := []string{"s", fork}
		require.Equal(t, []string{"MARK-one", "MARK-fork"}, storedIn(t, c, a, family, "MARK-one", "MARK-fork"))
		left = n
		err := a.Recreate(t.Context(), family...)
		done := left > 0
		if left = -1; err != nil {
			require.ErrorIs(t, err, errCrash)
			require.False(t, done)
			require.NoError(t, a.Recreate(t.Context(), family...))
		}
		require.Empty(t, storedIn(t, c, a, family, "MARK-"), "refused at request %d", n)
		require.Zero(t, a.sync().Pushed+b.sync().Pushed)
		require.Zero(t, b.pull().Pulled)
		if done {
			require.Greater(t, n, 8)
			return
		}
	}
}
