package hybrid

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
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
		w.trip()
	}
	return answer, err
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
	t.Cleanup(client.Close)
	container, err := client.NewContainer(testDatabase, testContainer)
	require.NoError(t, err)
	return func(o *Options) { o.Container = container }
}

// TestUpkeepIsKilled ends it at each of its requests. The next one finishes,
// with the same documents, and nothing is lost.
func TestUpkeepIsKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		g := plantGarden(t, c)
		want := g.everything(t, "before", "s", "fork")
		time.Sleep(time.Hour)
		began := c.Snapshot()
		tend := func(d *replica) {
			for range 3 {
				d.upkeep(atOnceOf(), "s")
				time.Sleep(time.Hour)
			}
		}
		tend(c.device(t, "whole"))
		documents := c.documents()
		for n := 1; ; n += sparsely(6) {
			c.Restore(began)
			w := &tripwire{at: n}
			killed := false
			w.trip = func() { killed = true; w.kill(true) }
			d := c.device(t, fmt.Sprint("killed ", n), c.over(t, w))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := d.Upkeep(ctx, atOnceOf(), "s")
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

// sparsely returns how far to go on: at most n steps, fewer with CI set.
func sparsely(n int) int {
	if testenv.Thorough() {
		n /= 2
	}
	return 1 + rand.IntN(n)
}

// meanwhile is what another device does beside upkeep.
func meanwhile() map[string]func(t *testing.T, w *replica, g *garden) error {
	ctx := context.Background()
	push := func(w *replica, id string) error {
		_, err := w.Sync(ctx, id)
		return err
	}
	return map[string]func(t *testing.T, w *replica, g *garden) error{
		"append": func(_ *testing.T, w *replica, _ *garden) error { return push(w, "s") },
		"more than a batch": func(_ *testing.T, w *replica, _ *garden) error {
			w.put("s", "transcript.jsonl", w.file("s", "transcript.jsonl")+large()+"\n")
			return push(w, "s")
		},
		"what was removed": func(_ *testing.T, w *replica, g *garden) error {
			w.put("s", "transcript.jsonl", g.old)
			return push(w, "s")
		},
		"rewind": func(_ *testing.T, w *replica, _ *garden) error {
			w.cutTo("s", 5)
			return push(w, "s")
		},
		"fork": func(t *testing.T, w *replica, _ *garden) error {
			w.say("another", "x")
			w.put("another", "transcript.jsonl", w.file("s", "transcript.jsonl"))
			_, err := w.UpdateMetadata(ctx, "another", func(md *sessionstore.Metadata) error { return md.Set("parent_id", "s") })
			require.NoError(t, err)
			w.say("another", "its way")
			return push(w, "another")
		},
		"restore": func(_ *testing.T, w *replica, _ *garden) error {
			all, err := w.Branches(ctx, "s")
			if err != nil {
				return err
			}
			return w.Restore(ctx, "s", all[len(all)-1])
		},
		"upkeep": func(_ *testing.T, w *replica, _ *garden) error {
			_, err := w.Upkeep(ctx, atOnceOf(), "s")
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

// TestUpkeepBesideWriters lets another device do all of something between two
// requests of upkeep, and upkeep do all it can between two requests of the
// other device, wherever that is. What can be named then is what it is without
// upkeep.
func TestUpkeepBesideWriters(t *testing.T) {
	t.Parallel()
	for name, act := range meanwhile() {
		if testing.Short() && name != "more than a batch" && name != "what was removed" {
			continue // these need most of what makes it safe
		}
		for _, whose := range []string{"upkeep waits", "writer waits"} {
			t.Run(name+", "+whose, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { beside(t, act, whose == "upkeep waits") })
			})
		}
	}
}

func beside(t *testing.T, act func(*testing.T, *replica, *garden) error, upkeepWaits bool) {
	c := newCloud(t, nil)
	g := plantGarden(t, c)
	g.a.upkeep(&UpkeepOptions{Grace: 1000 * time.Hour, Former: time.Nanosecond}) // gives up former tips, and waits
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
	again := func(edit ...func(*Options)) *replica {
		c.Restore(began)
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, os.CopyFS(dir, os.DirFS(saved)))
		return c.deviceAt(t, dir, "a", edit...)
	}
	settle := func(w *replica) {
		time.Sleep(time.Hour)
		_, err := w.Sync(t.Context())
		require.NoError(t, err)
		require.NoError(t, w.Close())
		time.Sleep(time.Hour)
	}
	w := again()
	require.NoError(t, act(t, w, g))
	settle(w)
	want := g.everything(t, "want")
	for n := 1; ; n += sparsely(10) {
		var first error
		wire := &tripwire{at: n}
		tripped := false
		if upkeepWaits {
			w = again()
			wire.trip = func() { tripped = true; first = act(t, w, g) }
			u := c.device(t, fmt.Sprint("upkeep ", n), c.over(t, wire))
			u.upkeep(atOnceOf(), "s")
			if !tripped {
				require.Greater(t, n, 8)
				return
			}
		} else {
			w = again(c.over(t, wire))
			u := c.device(t, fmt.Sprint("upkeep ", n))
			wire.trip = func() {
				tripped = true
				for range 3 {
					u.upkeep(atOnceOf(), "s")
					time.Sleep(time.Second)
				}
			}
			first = act(t, w, g)
		}
		if first != nil {
			require.True(t, errors.Is(first, ErrContended) || errors.Is(first, ErrShared), "request %d: %v", n, first)
			require.NoError(t, act(t, w, g), "request %d", n)
		}
		settle(w)
		c.device(t, fmt.Sprint("last ", n)).upkeep(atOnceOf(), "s")
		require.Equal(t, want, g.everything(t, fmt.Sprint("after ", n)), "request %d", n)
		if !tripped {
			require.Greater(t, n, 3)
			return
		}
	}
}

// TestNothingIsRemovedThatWasStoredAnew concerns the partitions of long streams,
// which a batch with the tip does not reach.
func TestNothingIsRemovedThatWasStoredAnew(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one")
	a.sync()
	sid := a.engine.sid("s")
	pk := segment.StreamPK(sid, segment.Transcript, 1)
	body := func(id string, n int) string {
		return fmt.Sprintf(`{"id":%q,"pk":%q,"type":"chunk","v":1,"n":%d}`, id, pk, n)
	}
	var steps []step
	for i := range 250 {
		id := fmt.Sprintf("%s-c-%040d", sid, i)
		require.NoError(t, c.Put(testDatabase, testContainer, body(id, 0)))
		steps = append(steps, step{id: id})
	}
	for _, d := range c.Docs(testDatabase, testContainer) {
		for i := range steps {
			if steps[i].id == d.ID {
				steps[i].etag = azcore.ETag(d.ETag)
			}
		}
	}
	require.NoError(t, c.Put(testDatabase, testContainer, body(steps[7].id, 1)))
	require.NoError(t, c.Remove(testDatabase, testContainer, `["`+pk+`"]`, steps[9].id))
	u := &keeper{visit: a.engine.begin("s", want{})}
	require.NoError(t, u.readTip(t.Context()))
	before := u.etag
	removed, err := u.under(t.Context(), pk, steps)
	require.NoError(t, err)
	require.Equal(t, len(steps)-2, removed)
	require.Equal(t, 1, c.documents()["chunk"], "the one that was stored anew")
	require.NotEqual(t, before, u.etag, "whoever read the tip before has to look again")
	u.etag = before
	_, err = u.under(t.Context(), pk, steps[:1])
	require.ErrorIs(t, err, errLost)
}

// TestUpkeepSingleFaults lets requests of upkeep fail once, in each way.
func TestUpkeepSingleFaults(t *testing.T) {
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
		began := c.Snapshot()
		for name, fault := range faults {
			for n := sparsely(16); ; n += sparsely(16) {
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
					if _, err = d.Upkeep(t.Context(), atOnceOf(), "s"); err == nil {
						break
					}
					time.Sleep(time.Second)
				}
				require.NoError(t, err, "%s at request %d", name, n)
				c.Inject(nil)
				time.Sleep(time.Hour)
				for range 2 {
					d.upkeep(atOnceOf(), "s")
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
