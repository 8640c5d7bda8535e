package hybrid

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestSyncTells syncs sessions of every kind at once, and looks what it says of each.
func TestSyncTells(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a, b := c.device(t, "a"), c.device(t, "b")
		for _, id := range []string{"changed", "same", "run", "both", "broken", "deleted"} {
			a.saveNew(id, "one")
		}
		a.sync()
		require.Equal(t, 6, b.pull().Pulled)
		require.NoError(t, b.Delete(t.Context(), "deleted"))
		for _, id := range []string{"changed", "run", "both", "broken", "deleted"} {
			a.saveOne(id, "from a")
		}
		a.saveNew("new", "one")
		a.saveNew("newer", "one")
		a.sync()
		hold, err := b.Acquire(t.Context(), "run", sessionstore.Owner{App: "agent"})
		require.NoError(t, err)
		b.saveOne("both", "from b")
		sid := b.engine.SID("broken")
		c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
			if strings.Contains(r.Partition, sid) {
				return cosmostest.Refuse(http.StatusBadRequest, 0)
			}
			return cosmostest.Fault{}
		}))
		got, err := b.Sync(t.Context())
		require.ErrorIs(t, err, ErrBlocked)
		require.Equal(t, 2, got.Pulled, "changed and both")
		require.Equal(t, 2, got.Elsewhere, "new and newer, and not what was deleted here")
		require.Equal(t, []string{"run"}, sessions(got.Behind))
		require.ErrorIs(t, got.Behind[0].Err, ErrDeferred)
		require.Equal(t, []string{"both"}, sessions(got.Diverged))
		require.Equal(t, []string{"broken"}, sessions(got.Failed))
		require.False(t, b.Exists("new"))

		at, _ := LastSync(b.Dir())
		require.WithinDuration(t, time.Now(), at, time.Minute, "all but one succeeded")
		now := b.state("run")
		require.Equal(t, Behind, now.State)
		require.ErrorContains(t, now.Err, "somebody runs")
		require.Equal(t, Blocked, b.state("broken").State)

		c.Inject(nil)
		require.NoError(t, hold.Release())
		got = b.sync()
		require.Empty(t, got.Behind)
		require.Empty(t, got.Failed)
		require.Equal(t, 2, got.Pulled)
		require.Equal(t, UpToDate, b.state("run").State)
		require.NoError(t, b.state("run").Err)
		b.pull()
		require.Zero(t, b.sync().Elsewhere)
	})
}

// TestLastSyncOfNothing: where all sessions fail, that is no success.
func TestLastSyncOfNothing(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.saveNew("s", "one")
	c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
		if r.Op.Writes() {
			return cosmostest.Refuse(http.StatusForbidden, 0)
		}
		return cosmostest.Fault{}
	}))
	_, err := a.Sync(t.Context())
	require.ErrorIs(t, err, ErrBlocked)
	at, _ := LastSync(a.Dir())
	require.True(t, at.IsZero(), at)
}

// TestLastSyncOfTheBackground: one session that fails for ever hides no success.
func TestLastSyncOfTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a", background)
		sid := a.engine.SID("broken")
		c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
			if strings.Contains(r.Partition, sid) {
				return cosmostest.Refuse(http.StatusBadRequest, 0)
			}
			return cosmostest.Fault{}
		}))
		a.say("broken", "one")
		time.Sleep(time.Hour)
		a.say("s", "one")
		time.Sleep(time.Minute)
		at, _ := LastSync(a.Dir())
		require.WithinDuration(t, time.Now(), at, 2*time.Minute)
		require.Equal(t, Blocked, a.state("broken").State)
	})
}

// TestStatusOfWhatWaits: a program that opens the directory later says the same of what waits.
func TestStatusOfWhatWaits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		here  bool // there are new messages here, too
		state State
		is    string
	}{
		"the remote went on": {false, Behind, "another tool wrote the session"},
		"both went on":       {true, Pending, "two devices added to the session"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			dir := filepath.Join(t.TempDir(), "sessions")
			a, b := c.device(t, "a"), c.deviceAt(t, dir, "b")
			wrote := time.Now().Add(-3 * time.Minute)
			line := `{"role": "user", "content": "1"}` + "\n"
			write := func(text string) { // as another tool
				require.NoError(t, os.MkdirAll(filepath.Join(dir, "s"), 0o700))
				at := filepath.Join(dir, "s", "transcript.jsonl")
				require.NoError(t, os.WriteFile(at, []byte(text), 0o600))
				require.NoError(t, os.Chtimes(at, wrote, wrote))
			}
			write(line)
			b.sync()
			a.refresh("s")
			a.saveOne("s", "from a")
			a.sync()
			if tt.here {
				write(line + `{"role": "user", "content": "2"}` + "\n")
			}
			got := b.sync()
			list := got.Behind
			if tt.here {
				list = got.Diverged
			}
			require.Equal(t, []string{"s"}, sessions(list))
			require.WithinDuration(t, wrote.Add(10*time.Minute), list[0].Until, time.Second)
			require.ErrorContains(t, list[0].Err, "another tool wrote the session")
			require.Equal(t, Behind, b.state("s").State)

			later := c.deviceAt(t, dir, "b")
			now := later.state("s")
			require.Equal(t, tt.state, now.State)
			require.Equal(t, 2, now.Remote)
			require.ErrorContains(t, now.Err, tt.is)
			require.ErrorIs(t, now.Err, ErrDeferred)
			require.WithinDuration(t, wrote.Add(10*time.Minute), now.NextTry, time.Second)
			got = later.sync()
			require.Len(t, append(got.Behind, got.Diverged...), 1, "each sync says so")
		})
	}
}

// TestStatusByTheCatalogue: what a list of the remote told is known without a request.
func TestStatusByTheCatalogue(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.saveNew("s", "one")
	a.sync()
	b.pull()
	a.saveOne("s", "two")
	a.sync()
	dir := b.Dir()
	_, err := b.Remote(t.Context())
	require.NoError(t, err)
	require.Equal(t, UpToDate, b.state("s").State, "its own last sync is what a store tells")
	require.NoError(t, b.Close())
	b = c.deviceAt(t, dir, "b")
	now := b.state("s")
	require.Equal(t, Behind, now.State)
	require.Equal(t, 2, now.Remote)
	require.NoError(t, now.Err, "the next sync brings it")
	b.sync()
	require.Equal(t, UpToDate, b.state("s").State)
}

// TestStatusOfFailures: a program that opens the directory later knows why a session failed,
// and no longer once it is sent.
func TestStatusOfFailures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		is     error
		state  State
	}{
		"refused":      {http.StatusBadRequest, ErrBlocked, Blocked},
		"full":         {0, ErrFull, Blocked},
		"unauthorized": {http.StatusForbidden, ErrUnauthorized, Deferred},
		"away":         {http.StatusServiceUnavailable, nil, Pending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud(t, nil)
				dir := filepath.Join(t.TempDir(), "sessions")
				a := c.deviceAt(t, dir, "a")
				a.say("s", "one")
				a.sync()
				a.say("s", "two")
				c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
					switch {
					case !r.Op.Writes():
						return cosmostest.Fault{}
					case tt.status == 0:
						return cosmostest.Fault{Status: http.StatusForbidden, SubStatus: 1014}
					case tt.status == http.StatusForbidden:
						return cosmostest.Fault{Status: http.StatusForbidden, SubStatus: 5301}
					}
					return cosmostest.Refuse(tt.status, 0)
				}))
				_, err := a.Sync(t.Context(), "s")
				require.Error(t, err)
				require.NoError(t, a.Close())
				later := c.deviceAt(t, dir, "a")
				now := later.state("s")
				require.Equal(t, tt.state, now.State)
				if tt.is == nil {
					require.NoError(t, now.Err)
				} else {
					require.ErrorIs(t, now.Err, tt.is)
					require.Contains(t, err.Error(), now.Err.Error())
				}
				c.Inject(nil)
				time.Sleep(time.Hour)
				later.sync()
				require.NoError(t, later.Close())
				require.Equal(t, UpToDate, c.deviceAt(t, dir, "a").state("s").State)
			})
		})
	}
}

// TestSyncOfUnreadableRules: where the rules cannot be read, a sync says so of each session.
func TestSyncOfUnreadableRules(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"deny.json", "local-only.json"} {
		c := newCloud(t, nil)
		dir := filepath.Join(t.TempDir(), "sessions")
		a := c.deviceAt(t, dir, "a")
		a.say("sent", "one")
		a.sync()
		a.say("new", "one")
		require.NoError(t, a.Close())
		at := filepath.Join(dir, ".sessionstore", "sync", name)
		require.NoError(t, os.WriteFile(at, []byte("{"), 0o600))
		a = c.deviceAt(t, dir, "a")
		got := a.sync()
		require.Equal(t, []string{"new", "sent"}, sessions(got.Held))
		for _, x := range got.Held {
			require.ErrorContains(t, x.Err, at)
			require.NotErrorIs(t, x.Err, ErrLocal)
			require.NotContains(t, x.Err.Error(), "\n")
		}
		require.ErrorContains(t, a.state("sent").Err, at)
		require.NoError(t, os.Remove(at))
		require.NoError(t, a.Close())
		a = c.deviceAt(t, dir, "a")
		require.Empty(t, a.sync().Held)
		require.Equal(t, UpToDate, a.state("new").State)
	}
}

// TestSyncOfNothing syncs a directory without sessions: what the remote has is counted, and a
// remote that cannot be asked is no success.
func TestSyncOfNothing(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.saveNew("s", "one")
	a.sync()
	c.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Refuse(http.StatusUnauthorized, 0) }))
	_, err := b.Sync(t.Context())
	require.ErrorIs(t, err, ErrBlocked)
	at, _ := LastSync(b.Dir())
	require.True(t, at.IsZero(), at)
	c.Inject(nil)
	require.Equal(t, 1, b.sync().Elsewhere)
	at, _ = LastSync(b.Dir())
	require.False(t, at.IsZero())
}

// TestRefreshOfWhatIsKeptLate: that a rule came late is no error for who goes on.
func TestRefreshOfWhatIsKeptLate(t *testing.T) {
	t.Parallel()
	a := newCloud(t, nil).device(t, "a")
	a.saveNew("s", "one")
	a.sync()
	require.NoError(t, a.KeepLocal(t.Context(), "s"))
	a.refresh("s")
	got := a.sync()
	require.Equal(t, []string{"s"}, sessions(got.Held))
	require.ErrorIs(t, got.Held[0].Err, ErrLocal)
}
