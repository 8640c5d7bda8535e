package hybrid

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// refresh refreshes a session, and compares the revision with what is here.
func (r *testDevice) refresh(id string) {
	r.t.Helper()
	got, err := r.Refresh(context.Background(), id)
	require.NoError(r.t, err)
	now, err := r.Revision(context.Background(), id)
	require.NoError(r.t, err)
	require.Equal(r.t, now, got)
}

// saveOne loads a session and saves it with one more message.
func (r *testDevice) saveOne(id, text string) {
	r.t.Helper()
	s, err := r.Load(context.Background(), id)
	require.NoError(r.t, err)
	m, err := sessionstore.Text("user", text, time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	require.NoError(r.t, err)
	require.NoError(r.t, r.Save(context.Background(), id, append(s.Messages, m), s.Metadata))
}

// TestRefresh has two devices that take turns, and looks what each Refresh asks
// and brings.
func TestRefresh(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.saveNew("s", "one")
	a.sync()
	b.refresh("s")
	require.Equal(t, []string{"one"}, b.texts("s"), "a session of another device comes")
	b.saveOne("s", "two")
	b.sync()
	a.refresh("s")
	require.Equal(t, []string{"one", "two"}, a.texts("s"), "what this device wrote a moment ago is no hindrance")

	for _, r := range []*testDevice{a, b} {
		c.ResetCounters()
		r.refresh("s")
		n := c.Counters().Total
		require.Equal(t, 1, n.Requests)
		require.LessOrEqual(t, n.Charge, 1.0)
	}

	a.saveOne("s", "three")
	a.refresh("s")
	require.Equal(t, []string{"one", "two", "three"}, a.texts("s"))
	b.refresh("s")
	require.Equal(t, []string{"one", "two"}, b.texts("s"), "Refresh sends nothing")

	b.saveNew("new", "only here")
	b.refresh("new")
	require.Equal(t, []string{"only here"}, b.texts("new"))

	require.NoError(t, a.Delete(t.Context(), "s"))
	a.refresh("s")
	require.Equal(t, []string{"one", "two"}, a.texts("s"), "it was named")

	none, err := a.Refresh(t.Context(), "nowhere")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	require.Zero(t, none)
}

// saveNew saves a new session of one message.
func (r *testDevice) saveNew(id, text string) {
	r.t.Helper()
	m, err := sessionstore.Text("user", text, time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	require.NoError(r.t, err)
	require.NoError(r.t, r.Save(context.Background(), id, []sessionstore.Message{m}, sessionstore.Metadata{}))
}

// TestRefreshIsMissedByNoSave lets a background look for changes all the time
// while a program goes on with a session, which another device changes
// meanwhile. Nothing that the program saves undoes anything.
func TestRefreshIsMissedByNoSave(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(c *cloud, t *testing.T, dir string) *testDevice{
		"own background": func(c *cloud, t *testing.T, dir string) *testDevice { return c.deviceAt(t, dir, "b", background) },
		"other background": func(c *cloud, t *testing.T, dir string) *testDevice {
			c.deviceAt(t, dir, "b", background)
			return c.deviceAt(t, dir, "b")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud(t, nil)
				a := c.device(t, "a")
				b := how(c, t, filepath.Join(t.TempDir(), "sessions"))
				a.saveNew("s", "one")
				a.sync()
				time.Sleep(3 * time.Minute)
				require.Equal(t, []string{"one"}, b.texts("s"), "it arrived")
				b.refresh("s")
				loaded, err := b.Load(t.Context(), "s")
				require.NoError(t, err)
				a.saveOne("s", "from a")
				a.sync()
				time.Sleep(9 * time.Minute)
				now, err := b.Revision(t.Context(), "s")
				require.NoError(t, err)
				require.Equal(t, loaded.Revision, now)
				require.NoError(t, b.tag("s"))
				time.Sleep(9 * time.Minute)
				require.Equal(t, []string{"one"}, b.texts("s"), "it is still used")
				b.refresh("s")
				require.Equal(t, []string{"one", "from a"}, b.texts("s"))
				b.saveOne("s", "from b")
				time.Sleep(time.Minute)
				require.Empty(t, b.sync().Conflicts)
				a.refresh("s")
				require.Equal(t, []string{"one", "from a", "from b"}, a.texts("s"))
				a.saveOne("s", "again from a")
				a.sync()
				time.Sleep(15 * time.Minute)
				require.Equal(t, []string{"one", "from a", "from b", "again from a"}, b.texts("s"), "after ten minutes it follows by itself")
			})
		})
	}
}

// tag changes the metadata of a session.
func (r *testDevice) tag(id string) error {
	_, err := r.UpdateMetadata(context.Background(), id, func(md *sessionstore.Metadata) error { return md.Set("tag", "x") })
	return err
}

// TestRefreshAcquired looks who may change the files of a session that a program
// acquired: only its own Refresh.
func TestRefreshAcquired(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	a, b, other := c.device(t, "a"), c.deviceAt(t, dir, "b"), c.deviceAt(t, dir, "b")
	a.saveNew("acquired", "one")
	a.sync()
	b.refresh("acquired")
	hold, err := b.Acquire(t.Context(), "acquired", sessionstore.Owner{App: "agent"})
	require.NoError(t, err)
	a.saveOne("acquired", "two")
	a.sync()
	b.sync()
	require.Equal(t, []string{"one"}, b.texts("acquired"))
	rev, err := other.Refresh(t.Context(), "acquired")
	require.ErrorIs(t, err, ErrDeferred)
	require.Equal(t, 1, rev.Messages)
	b.refresh("acquired")
	require.Equal(t, []string{"one", "two"}, b.texts("acquired"))
	b.saveOne("acquired", "three")
	require.NoError(t, hold.Release())
	b.sync()
	a.refresh("acquired")
	require.Equal(t, []string{"one", "two", "three"}, a.texts("acquired"))
}

// TestRefreshAway looks what Refresh says when the account cannot be asked. The
// session here stays as it is.
func TestRefreshAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, tt := range map[string]struct {
			fault cosmostest.Fault
			is    error
		}{
			"broken":  {cosmostest.Drop(), ErrUnreachable},
			"silent":  {cosmostest.Delay(time.Hour), ErrUnreachable},
			"busy":    {cosmostest.Refuse(http.StatusTooManyRequests, time.Minute), ErrUnreachable},
			"refused": {cosmostest.Refuse(http.StatusForbidden, 0), ErrBlocked},
		} {
			c := newCloud(t, nil)
			a := c.device(t, "a")
			a.saveNew("s", "one")
			a.sync()
			here, err := a.Revision(t.Context(), "s")
			require.NoError(t, err)
			c.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault { return tt.fault }))
			for _, id := range []string{"s", "elsewhere"} {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				began := time.Now()
				got, err := a.Refresh(ctx, id)
				cancel()
				require.ErrorIs(t, err, tt.is, name)
				require.LessOrEqual(t, time.Since(began), 2100*time.Millisecond, name)
				if id == "s" {
					require.Equal(t, here, got, name)
					require.Equal(t, []string{"one"}, a.texts("s"))
				}
			}
			require.NoError(t, a.Append(t.Context(), "used", a.message("works on")))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = a.Refresh(ctx, "s")
			require.ErrorIs(t, err, context.Canceled)
			require.NotErrorIs(t, err, ErrUnreachable)
			c.Inject(nil)
			time.Sleep(2 * time.Minute)
			a.refresh("s")
		}
	})
}

func (r *testDevice) message(text string) sessionstore.Message {
	r.t.Helper()
	m, err := sessionstore.Text("assistant", text, time.Time{})
	require.NoError(r.t, err)
	return m
}

// TestRefreshLocal refreshes in a store without a container, and a session that
// never leaves.
func TestRefreshLocal(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "sessions"), nil)
	require.NoError(t, err)
	local := &testDevice{s, t}
	defer func() { require.NoError(t, local.Close()) }()
	local.saveNew("s", "one")
	local.refresh("s")
	_, err = local.Refresh(t.Context(), "none")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	require.NotContains(t, err.Error(), "file ")

	c := newCloud(t, nil)
	a := c.device(t, "a", func(o *Options) { o.Private = []string{"secret*"} })
	a.saveNew("secret", "one")
	c.ResetCounters()
	a.refresh("secret")
	require.Zero(t, c.Counters().Total.Requests)
}

// TestRefreshOfTwoHistories refreshes a session that two devices changed: this
// one's history is kept, and the program goes on with the other.
func TestRefreshOfTwoHistories(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.saveNew("s", "one")
	a.sync()
	b.refresh("s")
	b.saveOne("s", "from b")
	a.saveOne("s", "from a")
	a.sync()
	b.refresh("s")
	require.Equal(t, []string{"one", "from a"}, b.texts("s"))
	require.Len(t, b.ids(), 2)
}
