package hybrid

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// tripwire calls trip before one of the requests of a device, or after it.
type tripwire struct {
	next  policy.Transporter
	at    int
	after bool
	trip  func()

	mu   sync.Mutex // guards what follows
	n    int        // requests on documents so far
	dead bool       // nothing goes through any more
}

func (w *tripwire) Do(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/" || r.URL.Path == "" {
		return w.next.Do(r)
	}
	w.mu.Lock()
	w.n++
	now := w.n == w.at
	w.mu.Unlock()
	if now && !w.after {
		w.trip()
	}
	w.mu.Lock()
	dead := w.dead
	w.mu.Unlock()
	if dead {
		return nil, errCrash
	}
	answer, err := w.next.Do(r)
	if now && w.after {
		asleep(r.Context(), w.trip)
	}
	return answer, err
}

// asleep runs trip while the machine sleeps, which the limits of silence do not count.
func asleep(ctx context.Context, trip func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		trip()
	}()
	for {
		select {
		case <-over:
			return
		case <-time.After(20 * time.Second):
			remote.Moved(ctx)
		}
	}
}

// kill lets nothing through any more, or everything again.
func (w *tripwire) kill(dead bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = dead
}

// count returns the requests so far.
func (w *tripwire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

// over sends a device's requests through a wire, one at a time.
func (c *cloud) over(t testing.TB, w *tripwire) func(*Options) {
	w.next = c.Transport()
	return through(t, c, w)
}

// through sends a device's requests through a transport of its own.
func through(t testing.TB, c *cloud, w policy.Transporter) func(*Options) {
	cred, err := azcosmos.NewKeyCredential(c.Key())
	require.NoError(t, err)
	client, err := azcosmos.NewClientWithKey(c.Endpoint(), cred, &azcosmos.ClientOptions{
		ClientOptions: policy.ClientOptions{Transport: w},
	})
	require.NoError(t, err)
	testenv.Cleanup(t, client.Close)
	container, err := client.NewContainer(testDatabase, testContainer)
	require.NoError(t, err)
	return func(o *Options) { o.Remote = cosmos.New(container) }
}

// TestPruneIsKilled ends it at each of its requests. The next one finishes,
// with the same documents, and nothing is lost.
func TestPruneIsKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		g := plantGarden(t, c)
		want := g.everything(t, "before", "s", "fork")
		time.Sleep(time.Hour)
		began := c.Snapshot()
		tend := func(d *testDevice) {
			for range 3 {
				d.prune(atOnceOf(), "s")
				time.Sleep(time.Hour)
			}
		}
		tend(c.device(t, "whole"))
		documents := c.documents()
		r := testenv.Rand(t)
		for n := 1; ; n += sparsely(r, 3) {
			c.Restore(began)
			w := &tripwire{at: n}
			killed := false
			w.trip = func() { killed = true; w.kill(true) }
			d := c.device(t, fmt.Sprint("killed ", n), c.over(t, w))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := d.Prune(ctx, atOnceOf(), "s")
			cancel()
			if !killed {
				require.NoError(t, err)
				require.Greater(t, n, 15)
				break
			}
			require.Error(t, err)
			time.Sleep(time.Hour)
			require.Equal(t, want, g.everything(t, fmt.Sprint("after ", n), "s", "fork"), "killed at request %d", n)
			tend(c.device(t, fmt.Sprint("next ", n)))
			require.Equal(t, documents, c.documents(), "killed at request %d", n)
		}
		require.Equal(t, want, g.everything(t, "end", "s", "fork"))
	})
}

// sparsely returns how far to go on: at most 8n steps, 3n with TEST_LONG set, or n
// where nothing is left to chance.
func sparsely(r *rand.Rand, n int) int {
	return 1 + r.IntN(testenv.Share(8*n, 8*n, testenv.Further(3*n, n)))
}

// meanwhile is what another device does beside pruning.
func meanwhile() map[string]func(t *testing.T, w *testDevice, g *garden) error {
	ctx := context.Background()
	push := func(w *testDevice, id string) error {
		_, err := w.Sync(ctx, id)
		return err
	}
	return map[string]func(t *testing.T, w *testDevice, g *garden) error{
		"append": func(_ *testing.T, w *testDevice, _ *garden) error { return push(w, "s") },
		"more than a batch": func(_ *testing.T, w *testDevice, _ *garden) error {
			w.put("s", "transcript.jsonl", w.file("s", "transcript.jsonl")+large()+"\n")
			return push(w, "s")
		},
		"what was removed": func(_ *testing.T, w *testDevice, g *garden) error {
			w.put("s", "transcript.jsonl", g.old)
			return push(w, "s")
		},
		"rewind": func(_ *testing.T, w *testDevice, _ *garden) error {
			w.cutTo("s", 5)
			return push(w, "s")
		},
		"fork": func(t *testing.T, w *testDevice, _ *garden) error {
			w.say("another", "x")
			w.put("another", "transcript.jsonl", w.file("s", "transcript.jsonl"))
			_, err := w.UpdateMetadata(ctx, "another", func(md *sessionstore.Metadata) error { return md.Set("parent_id", "s") })
			require.NoError(t, err)
			w.say("another", "its way")
			return push(w, "another")
		},
		"restore": func(_ *testing.T, w *testDevice, _ *garden) error {
			all, err := w.Histories(ctx, "s")
			if err != nil {
				return err
			}
			return w.Restore(ctx, "s", all[len(all)-1])
		},
		"prune": func(_ *testing.T, w *testDevice, _ *garden) error {
			_, err := w.Prune(ctx, atOnceOf(), "s")
			return err
		},
	}
}

// large is a line that takes several requests, the same each time.
func large() string {
	b := make([]byte, 2200<<10)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b) // never fails
	return base64.StdEncoding.EncodeToString(b)
}

// TestPruneBesideWriters lets another device do all of something between two
// requests of pruning, and pruning do all it can between two requests of the
// other device, wherever that is. What can be named then is what it is without
// pruning.
func TestPruneBesideWriters(t *testing.T) {
	t.Parallel()
	changes := meanwhile()
	for _, name := range testenv.Some(t, 1, slices.Sorted(maps.Keys(changes))...) {
		change := changes[name]
		for _, whose := range []string{"pruning waits", "writer waits"} {
			t.Run(name+", "+whose, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { beside(t, change, whose == "pruning waits") })
			})
		}
	}
}

func beside(t *testing.T, change func(*testing.T, *testDevice, *garden) error, pruneWaits bool) {
	c := newCloud(t, nil)
	g := plantGarden(t, c)
	g.a.prune(&PruneOptions{Grace: 1000 * time.Hour, HistoryRetention: time.Nanosecond}) // gives up former heads, and waits
	for i := range 9 {
		g.a.say("s", fmt.Sprint("more ", i))
		g.a.sync("s")
	}
	g.a.say("s", "not sent yet")
	time.Sleep(time.Hour)
	began := c.Snapshot()
	dir, saved := g.a.Dir(), filepath.Join(t.TempDir(), "saved")
	require.NoError(t, g.a.Close())
	require.NoError(t, os.CopyFS(saved, os.DirFS(dir)))
	again := func(edit ...func(*Options)) *testDevice {
		c.Restore(began)
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, os.CopyFS(dir, os.DirFS(saved)))
		return c.deviceAt(t, dir, "a", edit...)
	}
	settle := func(w *testDevice) {
		time.Sleep(time.Hour)
		_, err := w.Sync(t.Context())
		require.NoError(t, err)
		require.NoError(t, w.Close())
		time.Sleep(time.Hour)
	}
	w := again()
	require.NoError(t, change(t, w, g))
	settle(w)
	want := g.everything(t, "want")
	r := testenv.Rand(t)
	for n := 1; ; n += sparsely(r, 5) {
		var first error
		wire := &tripwire{at: n}
		tripped := false
		if pruneWaits {
			w = again()
			wire.trip = func() { tripped = true; first = change(t, w, g) }
			u := c.device(t, fmt.Sprint("pruning ", n), c.over(t, wire))
			u.prune(atOnceOf(), "s")
			if !tripped {
				require.Greater(t, n, 8)
				return
			}
		} else {
			w = again(c.over(t, wire))
			u := c.device(t, fmt.Sprint("pruning ", n))
			wire.trip = func() {
				tripped = true
				for range 3 {
					u.prune(atOnceOf(), "s")
					time.Sleep(time.Second)
				}
			}
			first = change(t, w, g)
		}
		if first != nil {
			require.ErrorIs(t, first, ErrContended, "request %d", n)
			require.NoError(t, change(t, w, g), "request %d", n)
		}
		settle(w)
		c.device(t, fmt.Sprint("last ", n)).prune(atOnceOf(), "s")
		require.Equal(t, want, g.everything(t, fmt.Sprint("after ", n)), "request %d", n)
		if !tripped {
			require.Greater(t, n, 3)
			return
		}
	}
}

// TestPruneBesideReaders rewrites a session and removes what it was, without any
// patience, between two requests of a device that fetches it, wherever that is. The
// device gets what the session is then, and nothing is said to be damaged.
func TestPruneBesideReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a")
		a.say("s", "one", noise(300<<10))
		a.put("s", "config.md", noise(9<<10))
		a.sync("s")
		for i := range 5 {
			a.say("s", fmt.Sprint("more ", i))
			a.appendTo("s", "events.jsonl", fmt.Sprintf("{\"event\": \"x\", \"data\": %q}\n", noise(300<<10)))
			a.sync("s")
		}
		r := testenv.Rand(t)
		for n := 1; ; n += sparsely(r, 2) {
			w := &tripwire{at: n}
			tripped := false
			w.trip = func() {
				tripped = true
				a.cutTo("s", 1)
				a.say("s", "other", noise(300<<10))
				a.put("s", "config.md", noise(9<<10))
				a.sync("s")
				time.Sleep(time.Second)
				a.prune(&PruneOptions{Grace: time.Nanosecond, HistoryRetention: time.Nanosecond}, "s")
			}
			b := c.device(t, fmt.Sprint("b", n), c.over(t, w))
			got := b.pull("s")
			if !tripped {
				require.Greater(t, n, 5)
				return
			}
			require.Empty(t, got.Partial, "request %d", n)
			if b.file("s", "transcript.jsonl") != a.file("s", "transcript.jsonl") { // it had all before
				b.pull("s")
			}
			for _, name := range []string{"transcript.jsonl", "config.md", "events.jsonl"} {
				require.Equal(t, a.file("s", name), b.file("s", name), "%s, request %d", name, n)
			}
		}
	})
}

// TestPruneSingleFaults lets requests of pruning fail once, in each way.
func TestPruneSingleFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]cosmostest.Fault{
		"drop": cosmostest.Drop(), "lose": cosmostest.LoseAnswer(), "429": cosmostest.Refuse(http.StatusTooManyRequests, 20*time.Millisecond),
		"503": cosmostest.Refuse(http.StatusServiceUnavailable, 0), "412": cosmostest.Refuse(http.StatusPreconditionFailed, 0),
		"413": cosmostest.Refuse(http.StatusRequestEntityTooLarge, 0), "duplicate": cosmostest.Duplicate(), "retried": {Retried: true},
		"echo": {Echo: 1}, "stale": {Stale: 2}, "no rows": {Page: -1},
	}
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		g := plantGarden(t, c)
		want := g.everything(t, "before", "s", "fork")
		time.Sleep(time.Hour)
		began, seed := c.Snapshot(), testenv.Seed(t)
		for name, fault := range faults {
			r := rand.New(rand.NewPCG(seed, uint64(len(name))))
			for n := sparsely(r, 8); ; n += sparsely(r, 8) {
				c.Restore(began)
				reached := false
				c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
					if r.N != n {
						return cosmostest.Fault{}
					}
					reached = true
					return fault
				}))
				d := c.device(t, fmt.Sprint(name, n))
				var err error
				for range 4 {
					if _, err = d.Prune(t.Context(), atOnceOf(), "s"); err == nil {
						break
					}
					time.Sleep(time.Second)
				}
				require.NoError(t, err, "%s at request %d", name, n)
				c.Inject(nil)
				time.Sleep(time.Hour)
				for range 2 {
					d.prune(atOnceOf(), "s")
					time.Sleep(time.Hour)
				}
				if !reached {
					break
				}
				require.Equal(t, want, g.everything(t, fmt.Sprint("after ", name, n), "s", "fork"), "%s at request %d", name, n)
			}
		}
	})
}

// TestGarbageIsStoredAgain: a device that died before its head stores the same lines again,
// while another device's Prune removes what it left: it begins between two requests of Prune,
// and ends after it. Versions may follow from the content.
func TestGarbageIsStoredAgain(t *testing.T) {
	t.Parallel()
	for _, content := range []bool{false, true} {
		t.Run(fmt.Sprint("versions of the content ", content), func(t *testing.T) {
			t.Parallel()
			r := testenv.Rand(t)
			for n := 1; ; n += sparsely(r, 1) {
				reached, m := false, 1+r.IntN(12)
				synctest.Test(t, func(t *testing.T) {
					c := newCloud(t, &cosmostest.Options{ContentETags: content})
					pruning, sending := &tripwire{}, &tripwire{}
					a, b := c.device(t, "a", c.over(t, pruning)), c.device(t, "b", c.over(t, sending))
					b.say("s", "one", "two")
					b.sync()
					b.say("s", noise(3<<20))
					sending.at, sending.trip = sending.count()+8, func() { sending.kill(true) }
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					_, err := b.Sync(ctx, "s")
					cancel()
					require.Error(t, err)
					sending.kill(false)
					time.Sleep(time.Hour)
					half, pruned, synced := make(chan struct{}), make(chan struct{}), make(chan error, 1)
					sending.at, sending.trip = sending.count()+m, func() { close(half); <-pruned }
					pruning.at, pruning.trip = pruning.count()+n, func() {
						reached = true
						go func() {
							_, err := b.Sync(t.Context(), "s")
							synced <- err
						}()
						select {
						case <-half:
						case err := <-synced:
							synced <- err
						}
					}
					_, err = a.Prune(t.Context(), atOnceOf(), "s")
					require.NoError(t, err)
					close(pruned)
					if reached {
						require.NoError(t, <-synced)
					}
					b.sync("s")
					fresh := c.device(t, "fresh")
					fresh.pull("s")
					require.Equal(t, b.texts("s"), fresh.texts("s"), "at requests %d and %d", n, m)
				})
				if !reached {
					require.Greater(t, n, 3)
					return
				}
			}
		})
	}
}
