package hybrid

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestSingleFaults lets each request of a scenario fail once, in each way. The
// outcome must be that of no fault at all.
func TestSingleFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]cosmostest.Fault{
		"drop":      cosmostest.Drop(),
		"lose":      cosmostest.LoseAnswer(),
		"429":       cosmostest.Refuse(http.StatusTooManyRequests, 20*time.Millisecond),
		"449":       cosmostest.Refuse(449, 0),
		"503":       cosmostest.Refuse(http.StatusServiceUnavailable, 0),
		"500":       cosmostest.Refuse(http.StatusInternalServerError, 0),
		"408":       cosmostest.Refuse(http.StatusRequestTimeout, 0),
		"412":       cosmostest.Refuse(http.StatusPreconditionFailed, 0),
		"413":       cosmostest.Refuse(http.StatusRequestEntityTooLarge, 0),
		"split":     {Status: http.StatusGone, SubStatus: 1007},
		"failover":  {Status: http.StatusForbidden, SubStatus: 3},
		"in 412":    {Status: http.StatusPreconditionFailed, Operation: 1},
		"in 413":    {Status: http.StatusRequestEntityTooLarge, Operation: 2},
		"in 429":    {Status: http.StatusTooManyRequests, Operation: 2},
		"duplicate": cosmostest.Duplicate(),
		"retried":   {Retried: true},
		"echo":      {Echo: 1},
		"stale":     {Stale: 2},
		"no rows":   {Page: -1},
	}
	for _, name := range testenv.Some(t, 8, slices.Sorted(maps.Keys(faults))...) {
		fault := faults[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := testenv.Share(40, 40, testenv.Further(4, 1))
			for n := 1 + testenv.Rand(t).IntN(step); ; n += step {
				reached := false
				synctest.Test(t, func(t *testing.T) { reached = faultAt(t, n, fault) })
				if !reached {
					require.Greater(t, n, 10)
					return
				}
			}
		})
	}
}

// faultAt runs the scenario with a fault at one data request, and reports
// whether that many were made.
func faultAt(t *testing.T, n int, fault cosmostest.Fault) bool {
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	reached := false
	c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
		if r.N != n {
			return cosmostest.Fault{}
		}
		reached = true
		return fault
	}))
	travel(t, a, b, n, fault.Stale > 0)
	return reached
}

// travel takes one session through all that happens to it between two devices,
// while something goes wrong at request n. In the end everything must be as if
// nothing had.
func travel(t *testing.T, a, b *testDevice, n int, stale bool) {
	t.Helper()
	retry := func(do func() error) {
		var err error
		for range 4 {
			if err = do(); err == nil {
				return
			}
			time.Sleep(time.Second)
		}
		require.NoError(t, err, "fault at request %d", n)
	}
	syncs := func(r *testDevice) { retry(func() error { _, err := r.Sync(t.Context()); return err }) }
	pulls := func(r *testDevice) { retry(func() error { _, err := r.Pull(t.Context(), "s"); return err }) }
	a.say("s", "one", "two")
	syncs(a)
	pulls(b)
	b.say("s", "three")
	syncs(b)
	a.say("s", "other")
	syncs(a)
	pulls(b)
	a.cutTo("s", 1)
	syncs(a)
	syncs(b)
	if stale { // nobody knew that there was more
		syncs(a)
		syncs(b)
	}
	require.Equal(t, []string{"one"}, a.texts("s"), "fault at request %d", n)
	require.Equal(t, []string{"one"}, b.texts("s"), "fault at request %d", n)
	require.Len(t, a.ids(), 2, "the session and its fork; fault at request %d", n)
	for _, id := range a.ids() {
		if id != "s" {
			require.Equal(t, []string{"one", "two", "other"}, a.texts(id))
		}
	}
	retry(func() error { _, err := a.Check(t.Context(), "s", nil); return err })
}

func TestAccountRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		wrong := base64.StdEncoding.EncodeToString([]byte("another key"))
		container, err := dial(t, c.Server, wrong).NewContainer(testDatabase, testContainer)
		require.NoError(t, err)
		a := c.device(t, "a", func(o *Options) { o.Remote = cosmos.New(container) })
		a.say("s", "one")
		_, err = a.Sync(t.Context())
		require.ErrorIs(t, err, ErrBlocked)
		require.NotErrorIs(t, err, ErrClock)
		require.Equal(t, Blocked, a.state("s").State)
		require.ErrorIs(t, a.state("s").Err, ErrBlocked)
		c.ResetCounters()
		a.engine.syncOne(t.Context(), "s", syncer.Options{Look: true})
		require.Zero(t, c.Counters().ByStatus[http.StatusUnauthorized], "nobody asks while the account refuses")
		time.Sleep(16 * time.Minute)
		a.engine.syncOne(t.Context(), "s", syncer.Options{Look: true})
		require.Equal(t, 1, c.Counters().ByStatus[http.StatusUnauthorized], "but for a probe")
	})
}

func TestClockIsWrong(t *testing.T) {
	t.Parallel()
	ahead := time.Duration(0) // of the server's clock
	c := newCloud(t, &cosmostest.Options{Now: func() time.Time { return time.Now().Add(ahead) }})
	ahead = time.Hour
	a := c.device(t, "a")
	a.say("s", "one")
	_, err := a.Sync(t.Context())
	require.ErrorIs(t, err, ErrClock)
	require.ErrorIs(t, err, ErrBlocked)
	require.ErrorContains(t, err, "1h")
	require.Equal(t, Blocked, a.state("s").State)
	require.ErrorIs(t, a.state("s").Err, ErrClock)
	require.Equal(t, []string{"one"}, a.texts("s"))
	ahead = 0
	a.sync()
	require.Equal(t, UpToDate, a.state("s").State)
}

func TestNoContainerThere(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	for _, name := range []string{"database", "container"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, container := testDatabase, testContainer
			if name == "database" {
				db = "none"
			} else {
				container = "none"
			}
			other, err := cosmos.Connect(t.Context(), cosmos.Config{Endpoint: c.Endpoint(), Database: db, Container: container, Key: c.Key()}, nil, c.options())
			require.NoError(t, err, "it makes no request")
			a := c.device(t, "a", func(o *Options) { o.Remote = other })
			a.say("s", "one")
			_, err = a.Sync(t.Context())
			require.ErrorIs(t, err, ErrBlocked)
			require.ErrorContains(t, err, "no such database or container")
			require.Equal(t, Blocked, a.state("s").State)
			require.ErrorIs(t, a.state("s").Err, ErrBlocked)
		})
	}
}

func TestOtherPartitionKey(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	require.NoError(t, c.CreateContainer(testDatabase, "odd", "/tenant"))
	other, err := cosmos.Connect(t.Context(), cosmos.Config{Endpoint: c.Endpoint(), Database: testDatabase, Container: "odd", Key: c.Key()}, nil, c.options())
	require.NoError(t, err, "it makes no request")
	a := c.device(t, "a", func(o *Options) { o.Remote = other })
	a.say("s", "one")
	_, err = a.Sync(t.Context())
	require.ErrorIs(t, err, ErrBlocked)
	require.ErrorContains(t, err, "/pk")
	require.Equal(t, Blocked, a.state("s").State)
}

func TestRaceForTheTip(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		var devices []*testDevice
		for i := range 4 {
			d := c.device(t, fmt.Sprint("d", i), func(o *Options) { o.Conflict = Theirs })
			d.say("s", fmt.Sprint("from ", i))
			devices = append(devices, d)
		}
		done := make(chan error)
		for _, d := range devices {
			go func() { _, err := d.Sync(t.Context()); done <- err }()
		}
		for range devices {
			require.NoError(t, <-done)
		}
		for _, d := range devices {
			d.sync()
		}
		main := devices[0].texts("s")
		for _, d := range devices {
			require.Equal(t, main, d.texts("s"))
		}
		branches, err := devices[0].Histories(t.Context(), "s")
		require.NoError(t, err)
		require.Len(t, branches, 3)
	})
}

func TestDownMeansLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		c.Inject(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Drop() })
		a := c.device(t, "a", func(o *Options) { o.Manual = false })
		a.say("s", "one")
		_, err := a.Sync(t.Context(), "s")
		require.ErrorIs(t, err, ErrUnreachable)
		time.Sleep(2 * time.Minute) // the background may have found it out first, and then Sync tried nothing
		require.Equal(t, Deferred, a.state("s").State)
		c.Inject(nil)
		time.Sleep(20 * time.Minute)
		require.Equal(t, UpToDate, a.state("s").State)
	})
}

func TestErrorsHoldNoContent(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "secret words")
	c.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Refuse(http.StatusBadRequest, 0) }))
	_, err := a.Sync(t.Context())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
	require.False(t, strings.Contains(err.Error(), "\n"), err.Error())
	e := (*Error)(nil)
	require.True(t, errors.As(err, &e))
	require.Equal(t, "s", e.Session)
	require.NotErrorIs(t, err, sessionstore.ErrNotFound)
}

// TestFullSessionGoesOnAfterASync: a session that was full is sent by the background again once
// a call has synced it.
func TestFullSessionGoesOnAfterASync(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a", background)
		a.say("s", "one")
		time.Sleep(time.Minute)
		c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
			if r.Op.Writes() {
				return cosmostest.Fault{Status: http.StatusForbidden, SubStatus: 1014}
			}
			return cosmostest.Fault{}
		}))
		a.say("s", "two")
		time.Sleep(time.Minute)
		require.ErrorIs(t, a.state("s").Err, ErrFull)
		c.Inject(nil)
		a.sync("s")
		a.say("s", "three")
		time.Sleep(time.Minute)
		require.Equal(t, UpToDate, a.state("s").State)
		b := c.device(t, "b")
		b.pull()
		require.Equal(t, []string{"one", "two", "three"}, b.texts("s"))
	})
}

// TestFullPartition fills the partition of one session up to its limit. The call returns
// ErrFull, nothing here is lost, other sessions go on, the background asks rarely, and
// after Prune made room the session goes on.
func TestFullPartition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const turns, days = 10, 3
		c := newCloud(t, &cosmostest.Options{PartitionBytes: 64 << 10})
		a, b := c.device(t, "a", background), c.device(t, "b")
		for range turns { // which Prune makes one segment of, when there is room
			a.say("full", noise(1<<10))
			a.sync("full")
		}
		for i := 0; a.state("full").State != Blocked; i++ { // a rewound turn leaves what Prune removes
			a.say("full", noise(4<<10))
			_, err := a.Sync(t.Context(), "full")
			if err == nil {
				a.cutTo("full", turns)
				_, err = a.Sync(t.Context(), "full")
			}
			if err != nil {
				require.ErrorIs(t, err, ErrFull)
				require.NotErrorIs(t, err, ErrBlocked)
				require.ErrorContains(t, err, `"full"`)
				require.ErrorContains(t, err, "prune it, or go on in another session")
			}
			require.Less(t, i, 100)
		}
		a.say("full", "kept here")
		here := a.texts("full")
		require.ErrorIs(t, a.state("full").Err, ErrFull)
		a.say("other", "one")
		_, err := a.Sync(t.Context(), "other")
		require.NoError(t, err, "the account refuses only the session that is full")
		require.Equal(t, UpToDate, a.state("other").State)
		b.pull("full")
		inCloud := b.texts("full")

		time.Sleep(time.Hour) // what the other session leaves to do is done
		c.ResetCounters()
		for range days * 24 {
			a.say("full", "kept here too")
			time.Sleep(time.Hour)
		}
		writes := c.Counters().ByOp[cosmostest.OpBatch].Requests + c.Counters().ByOp[cosmostest.OpReplace].Requests
		require.LessOrEqual(t, writes, 2*days, "a try a day")
		require.Positive(t, writes)
		here = append(here, slices.Repeat([]string{"kept here too"}, days*24)...)
		require.Equal(t, here, a.texts("full"))
		require.Equal(t, Blocked, a.state("full").State)
		b.pull("full")
		require.Equal(t, inCloud, b.texts("full"))
		require.NoError(t, a.engine.budget.Away())

		got, err := a.Prune(t.Context(), &PruneOptions{Grace: time.Hour, HistoryRetention: time.Nanosecond}, "full")
		require.NoError(t, err)
		require.Positive(t, got.Removed)
		time.Sleep(time.Minute) // the background sends what waited
		require.NoError(t, a.state("full").Err)
		b.pull("full")
		require.Equal(t, here, b.texts("full"))
		require.Equal(t, here, a.texts("full"))
	})
}
