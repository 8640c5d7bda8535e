package hybrid

import (
	"bytes"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// meeting calls do once, before the first request of a device that is one of those.
type meeting struct {
	next policy.Transporter
	one  func(r *http.Request, body []byte) bool
	do   func()
	met  atomic.Bool
}

func (m *meeting) Do(r *http.Request) (*http.Response, error) {
	body, err := peek(r)
	if err != nil {
		return nil, err
	}
	if m.do != nil && m.one(r, body) && m.met.CompareAndSwap(false, true) {
		m.do()
	}
	return m.next.Do(r)
}

// removal is a request that removes documents.
func removal(r *http.Request, body []byte) bool {
	return r.Method == http.MethodDelete || bytes.Contains(body, []byte(`"operationType":"Delete"`))
}

// swap is a request that replaces a head.
func swap(r *http.Request, _ []byte) bool {
	return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "-head")
}

// upload is a request that stores a document ahead of a head.
func upload(r *http.Request, _ []byte) bool {
	return r.Header.Get("x-ms-documentdb-is-upsert") != ""
}

// meeting opens a device that meets others before one of its requests.
func (c *cloud) meeting(t *testing.T, name string, one func(*http.Request, []byte) bool) (*testDevice, *meeting) {
	m := &meeting{next: c.Transport(), one: one}
	d := c.device(t, name, through(t, c, m))
	d.engine.Alone = true
	return d, m
}

// manyRequests are texts that do not fit into one request with a head.
func manyRequests() []string { return []string{noise(950 << 10), noise(950 << 10)} }

// share makes a session of some texts on devices.
func share(devices []*testDevice, texts ...string) {
	devices[0].say("s", texts...)
	devices[0].sync()
	for _, d := range devices[1:] {
		d.pull()
	}
}

// TestRecreateWhileRemoveRemoves: the documents of the new session have the ids that the Remove
// has listed. Both calls that empty a session.
func TestRecreateWhileRemoveRemoves(t *testing.T) {
	t.Parallel()
	for name, remove := range removals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			p, m := c.meeting(t, "p", removal)
			a := c.device(t, "a")
			share([]*testDevice{a, p}, "one", "two")
			m.do = func() { a.recreate("s") }
			require.NoError(t, remove(p))
			require.True(t, m.met.Load())
			c.wholeInCloud(t, a, "s")
			p.sync()
			require.Equal(t, a.texts("s"), p.texts("s"))
		})
	}
}

// TestRecreateStopsARemove: a Recreate that is done when the Remove has listed the documents.
func TestRecreateStopsARemove(t *testing.T) {
	t.Parallel()
	for name, remove := range removals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			listed := false // once the head is a tombstone
			a := c.device(t, "a")
			p, m := c.meeting(t, "p", func(r *http.Request, body []byte) bool {
				if swap(r, body) && bytes.Contains(body, []byte(`\"deleted\":true`)) {
					again := listed
					listed = true
					return again
				}
				return false
			})
			share([]*testDevice{a, p}, "one", "two")
			m.do = func() { a.recreate("s") }
			require.ErrorIs(t, remove(p), ErrContended)
			require.True(t, m.met.Load())
			c.wholeInCloud(t, a, "s")
			require.NoError(t, remove(p), "once more, now that this is what is asked for")
			require.Empty(t, c.stored(t, "one"))
		})
	}
}

// TestRemoveWhileRecreateStores: a Remove lists and removes what a Recreate stored ahead of its
// head. Both calls that empty a session.
func TestRemoveWhileRecreateStores(t *testing.T) {
	t.Parallel()
	for name, remove := range removals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, m := c.meeting(t, "a", swap)
			p := c.device(t, "p")
			share([]*testDevice{a, p}, manyRequests()...)
			p.remove("s")
			m.met.Store(false)
			m.do = func() { require.NoError(t, remove(p)) }
			a.recreate("s")
			require.True(t, m.met.Load())
			c.wholeInCloud(t, a, "s")
		})
	}
}

func removals() map[string]func(*testDevice) error {
	return map[string]func(*testDevice) error{
		"remove": func(d *testDevice) error { return d.Remove(d.t.Context(), "s") },
	}
}

// TestRecreateWhileASyncCleansUp: a sync met the deletion and removes what it stored. Another
// device recreates the session with the same lines, so that documents have the same ids.
func TestRecreateWhileASyncCleansUp(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, p := c.device(t, "a"), c.device(t, "p")
	stored := false
	w, m := c.meeting(t, "w", swap)
	share([]*testDevice{w, a, p}, "one")
	w.say("s", manyRequests()...)
	a.put("s", "transcript.jsonl", w.file("s", "transcript.jsonl"))
	m.met.Store(false)
	m.do = func() {
		p.remove("s")
		stored = true
		m.one, m.do = removal, func() { a.recreate("s") }
		m.met.Store(false)
	}
	m.met.Store(false)
	_, err := w.Sync(t.Context(), "s")
	require.True(t, stored)
	if err != nil {
		require.ErrorIs(t, err, ErrRemoved)
	}
	require.True(t, m.met.Load(), "the sync removed what it stored")
	c.wholeInCloud(t, a, "s")
	w.sync()
	require.Equal(t, a.texts("s"), w.texts("s"))
}

// TestSyncCleansUpWhileRecreateStores: the sync stored a document later than the device that
// is recreating the session, so that the version there is its own.
func TestSyncCleansUpWhileRecreateStores(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	p := c.device(t, "p")
	w, writes := c.meeting(t, "w", upload)
	a, commits := c.meeting(t, "a", swap)
	share([]*testDevice{w, a, p}, "one")
	w.say("s", manyRequests()...)
	a.put("s", "transcript.jsonl", w.file("s", "transcript.jsonl"))
	stores, goOn, ended := make(chan bool), make(chan bool), make(chan error)
	writes.met.Store(false)
	writes.do = func() { close(stores); <-goOn }
	go func() {
		_, err := w.Sync(t.Context(), "s")
		ended <- err
	}()
	<-stores
	p.remove("s")
	commits.met.Store(false)
	commits.do = func() {
		close(goOn)
		require.ErrorIs(t, <-ended, ErrRemoved)
	}
	a.recreate("s")
	require.True(t, commits.met.Load())
	c.wholeInCloud(t, a, "s")
	w.sync()
	require.Equal(t, a.texts("s"), w.texts("s"))
}

// TestRecreateLosesItsAnswer: the head of the new session is stored, and the answer is lost.
// What the device stored before stays.
func TestRecreateLosesItsAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a")
		share([]*testDevice{a}, manyRequests()...)
		lost := false
		c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
			if lost || r.Op != cosmostest.OpReplace || !strings.HasSuffix(r.ID, "-head") || bytes.Contains(r.Body, []byte(`\"deleted\":true`)) {
				return cosmostest.Fault{}
			}
			lost = true
			return cosmostest.LoseAnswer()
		}))
		a.recreate("s")
		require.True(t, lost)
		c.Inject(nil)
		fresh := c.device(t, "fresh")
		fresh.pull("s")
		require.Equal(t, a.texts("s"), fresh.texts("s"))
	})
}

// TestRecreateLosesItsAnswerBesidePush: the head of the new session is stored, the answer is
// lost, and another device puts its lines behind before the first one reads the head again.
// What the first one stored stays.
func TestRecreateLosesItsAnswerBesidePush(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	var lost, behind atomic.Bool
	a, m := c.meeting(t, "a", func(r *http.Request, _ []byte) bool {
		return lost.Load() && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "-head")
	})
	b := c.device(t, "b")
	share([]*testDevice{a, b}, manyRequests()...)
	m.do = func() {
		b.pull("s")
		b.say("s", "behind")
		b.sync()
		behind.Store(true)
	}
	c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
		if behind.Load() && r.Op == cosmostest.OpUpsert {
			return cosmostest.Refuse(http.StatusForbidden, 0) // so that nothing is mended
		}
		if lost.Load() || r.Op != cosmostest.OpReplace || !strings.HasSuffix(r.ID, "-head") || bytes.Contains(r.Body, []byte(`\"deleted\":true`)) {
			return cosmostest.Fault{}
		}
		lost.Store(true)
		return cosmostest.LoseAnswer()
	}))
	_ = a.Store.Recreate(t.Context(), "s")
	require.True(t, m.met.Load())
	fresh := c.device(t, "fresh")
	fresh.pull("s")
	require.Equal(t, b.texts("s"), fresh.texts("s"))
	require.Equal(t, "behind", fresh.texts("s")[2])
}

// TestRecreateBesideARemoveIsListed: while a program removes two sessions, another one of the
// same device recreates the first, and is killed. The next sync of the device enters it in the
// catalogue, where other devices look for it.
func TestRecreateBesideARemoveIsListed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		last := 0 // of the requests that remove; then the program notes what the remote has of each
		for dies := 0; ; dies++ {
			c := newCloud(t, nil)
			removes, recreates := &tripwire{}, &tripwire{}
			a := c.device(t, "a", c.over(t, removes))
			a.say("s", "one")
			a.say("t", "one")
			a.sync()
			beside := c.deviceAt(t, a.Dir(), "a", c.over(t, recreates))
			killed, begins := false, removes.n
			recreates.trip = func() { killed = true; recreates.kill(true) }
			removes.trip = func() {
				recreates.at = recreates.n + dies
				_ = beside.Recreate(t.Context(), "s")
			}
			if dies > 0 {
				removes.at = begins + last
			}
			require.NoError(t, a.Remove(t.Context(), "s", "t"))
			if dies == 0 {
				last = removes.n - begins - 2
				continue
			}
			a.sync()
			listed, err := c.device(t, "other").Remote(t.Context())
			require.NoError(t, err)
			require.Len(t, listed, 2)
			for _, s := range listed {
				require.Equal(t, c.headOf(t, a.engine.SID(s.SessionID)).Deleted, s.Removed, "%s, killed at request %d", s.SessionID, dies)
			}
			if !killed {
				require.Greater(t, dies, 4)
				return
			}
		}
	})
}
