package hybrid

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func background(o *Options) { o.Manual = false }

func TestBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		var mu sync.Mutex
		var told []Status
		a := c.device(t, "a", background, func(o *Options) {
			o.OnStatus = func(s Status) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, s)
			}
		})
		b := c.device(t, "b", background)
		a.say("s", "one", "two")
		time.Sleep(5 * time.Second)
		require.Equal(t, UpToDate, a.state("s").State)
		b.pull()
		a.say("s", "three")
		time.Sleep(15 * time.Minute)
		require.Equal(t, []string{"one", "two", "three"}, b.texts("s"), "the catalogue told")
		mu.Lock()
		require.NotEmpty(t, told)
		require.Equal(t, Pushed, told[0].Last)
		mu.Unlock()

		// Another program writes: the next look at the directory finds it.
		m, err := sessionstore.Text("user", "from outside", time.Time{})
		require.NoError(t, err)
		b.appendTo("s", "transcript.jsonl", string(m.AppendTo(nil))+"\n")
		time.Sleep(5 * time.Minute)
		require.Equal(t, UpToDate, b.state("s").State)
		c.ResetCounters()
		time.Sleep(10 * time.Minute)
		n := c.Counters()
		require.Zero(t, n.ByOp[cosmostest.OpBatch].Requests)
		require.LessOrEqual(t, n.Total.Requests, 25, "but for the catalogue, an idle session costs nothing")
	})
}

// TestStatusesComeOneAtATime: OnStatus needs no lock of its own, however many
// sessions are synced at once.
func TestStatusesComeOneAtATime(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	var inside atomic.Int32
	told := 0
	a := c.device(t, "a", func(o *Options) {
		o.OnStatus = func(Status) {
			assert.EqualValues(t, 1, inside.Add(1))
			time.Sleep(time.Millisecond)
			told++
			inside.Add(-1)
		}
	})
	const sessions = 20
	for i := range sessions {
		a.say(fmt.Sprint("s", i), "one")
	}
	a.sync()
	require.Equal(t, sessions, told)
}

func TestCatalogueIsWrittenNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a", background)
		for i := range 60 {
			a.say("s", fmt.Sprint(i))
			time.Sleep(time.Second)
		}
		time.Sleep(2 * time.Minute)
		n := c.Counters()
		require.Equal(t, 60, n.ByKind["head"].Written)
		require.LessOrEqual(t, n.ByKind["cat"].Written, 4)
		list, err := a.Remote(t.Context())
		require.NoError(t, err)
		require.Equal(t, 60, list[0].Messages)
	})
}

func TestLiveSessionsStayBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a, b := c.device(t, "a"), c.device(t, "b", background)
		a.say("s", "one")
		a.sync()
		b.pull()
		foreign := func(text string) {
			m, err := sessionstore.Text("user", text, time.Time{})
			require.NoError(t, err)
			b.appendTo("s", "transcript.jsonl", string(m.AppendTo(nil))+"\n")
		}
		foreign("a Python tool")
		time.Sleep(2 * time.Minute)
		a.sync()
		a.say("s", "from a")
		a.sync()
		time.Sleep(3 * time.Minute)
		require.Equal(t, Behind, b.state("s").State)
		require.Equal(t, []string{"one", "a Python tool"}, b.texts("s"))
		foreign("goes on")
		foreign("and on")
		time.Sleep(5 * time.Minute)
		require.Equal(t, []string{"one", "a Python tool", "goes on", "and on"}, b.texts("s"))
		foreign("to its end")
		time.Sleep(2 * time.Minute)
		branches, err := a.Histories(t.Context(), "s")
		require.NoError(t, err)
		time.Sleep(20 * time.Minute)
		require.Equal(t, []string{"one", "a Python tool", "from a"}, b.texts("s"))
		require.Len(t, b.ids(), 2)
		for _, id := range b.ids() {
			if id != "s" {
				require.Equal(t, []string{"one", "a Python tool", "goes on", "and on", "to its end"}, b.texts(id))
			}
		}
		require.NotEmpty(t, branches, "what the tool wrote was in the cloud long before")
	})
}

func TestAcquiredSessionsStayBehind(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("owned", "one")
	a.sync()
	b.pull()
	a.say("owned", "two")
	a.sync()
	hold, err := b.Acquire(t.Context(), "owned", sessionstore.Owner{App: "agent"})
	require.NoError(t, err)
	b.sync()
	require.Equal(t, Behind, b.state("owned").State)
	require.Equal(t, []string{"one"}, b.texts("owned"))
	require.NoError(t, hold.Release())
	b.sync()
	require.Equal(t, []string{"one", "two"}, b.texts("owned"))
}

func TestShutdownDrains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		dir := filepath.Join(t.TempDir(), "sessions")
		o := &Options{Remote: cosmos.New(c.container), Project: "demo", User: "ada", Device: "a"}
		s, err := Open(t.Context(), dir, o)
		require.NoError(t, err)
		r := &testDevice{s, t}
		r.say("s", "one")
		require.NoError(t, s.Shutdown(t.Context()))
		require.NoError(t, s.Close())
		b := c.device(t, "b")
		require.Equal(t, 1, b.pull().Pulled)

		s, err = Open(t.Context(), dir, o)
		require.NoError(t, err)
		r = &testDevice{s, t}
		r.say("s", "two")
		c.Inject(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Drop() })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.Error(t, s.Shutdown(ctx))
		_, err = s.Load(t.Context(), "s")
		require.ErrorIs(t, err, sessionstore.ErrClosed)
		c.Inject(nil)
		s, err = Open(t.Context(), dir, o)
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		require.NoError(t, s.Close())
		require.Equal(t, 1, b.pull("s").Pulled, "the next one sent it")
	})
}

// TestCloseLeavesNothing closes stores in the middle of requests. A goroutine
// that stays would keep the bubble from ending.
func TestCloseLeavesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		c.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Delay(time.Hour) }))
		s, err := Open(t.Context(), filepath.Join(t.TempDir(), "sessions"), &Options{
			Remote: cosmos.New(c.container), Project: "demo", User: "ada", Device: "a",
		})
		require.NoError(t, err)
		r := &testDevice{s, t}
		for i := range 10 {
			r.say(fmt.Sprint("s", i), "one")
		}
		time.Sleep(time.Second)
		err = s.Close()
		require.ErrorIs(t, err, ErrDeferred)
		require.ErrorContains(t, err, "10 sessions wait")
		for _, stack := range strings.Split(stacks(), "\n\n") {
			require.NotContains(t, stack, "hybrid.(*worker)")
			require.NotContains(t, stack, "remote.(*Reader)")
		}
	})
}

func stacks() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, false)])
}

// TestWatch is in real time: notifications come from the system.
func TestWatch(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", background, func(o *Options) { o.Background.Watch, o.Background.Interval = true, time.Hour })
	b := c.device(t, "b")
	require.NoError(t, os.MkdirAll(filepath.Join(a.Dir(), "s"), 0o700))
	a.put("s", "transcript.jsonl", "{\"role\":\"user\",\"content\":\"one\"}\n")
	require.Eventually(t, func() bool {
		if _, err := b.Pull(context.Background(), "s"); err != nil {
			return false
		}
		s, err := b.Load(context.Background(), "s")
		return err == nil && len(s.Messages) == 1
	}, 5*time.Minute, 100*time.Millisecond)
	require.Equal(t, []string{"one"}, b.texts("s"))
}
