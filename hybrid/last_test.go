package hybrid

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// heard notes what OnStatus of a device is told. Its syncs are called one at a time.
func heard(told *[]Status) func(*Options) {
	return func(o *Options) { o.OnStatus = func(s Status) { *told = append(*told, s) } }
}

// requireHeard requires that OnStatus was told so many times since, and last what Status returns.
func (r *testDevice) requireHeard(told *[]Status, id string, times int, did Outcome) {
	r.t.Helper()
	require.Len(r.t, *told, times)
	is := r.state(id)
	require.Equal(r.t, did, is.Last)
	if times > 0 {
		require.Equal(r.t, is, (*told)[times-1])
	}
	*told = nil
}

// TestDivergenceIsToldOnce: while a program runs the session, each sync finds the divergence
// anew, and tells nothing until it did something.
func TestDivergenceIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		var told []Status
		a, b := c.device(t, "a"), c.device(t, "b", heard(&told))
		a.say("told-once", "one")
		a.sync()
		b.pull()
		b.requireHeard(&told, "told-once", 1, Pulled)
		hold, err := b.Acquire(t.Context(), "told-once", sessionstore.Owner{App: "test"})
		require.NoError(t, err)
		a.say("told-once", "a's")
		a.sync()
		b.say("told-once", "b's")
		b.sync("told-once")
		b.requireHeard(&told, "told-once", 1, Diverged)
		for since := b.state("told-once").LastAt; time.Since(since) < 3*time.Minute; {
			time.Sleep(time.Minute)
			b.sync("told-once")
			require.Len(t, b.pull("told-once").Diverged, 1)
			require.Equal(t, since, b.state("told-once").LastAt)
		}
		b.requireHeard(&told, "told-once", 0, Diverged)
		b.say("told-once", "more")
		b.sync("told-once")
		b.requireHeard(&told, "told-once", 1, Diverged)
		b.setMember("told-once", "note", "x")
		b.sync("told-once")
		b.requireHeard(&told, "told-once", 1, Diverged)
		require.NoError(t, hold.Release())
		b.sync("told-once")
		b.requireHeard(&told, "told-once", 1, Diverged)

		again := c.deviceAt(t, b.Dir(), "b", heard(&told))
		require.Zero(t, again.state("told-once").LastAt, "of this store")
	})
}

// TestLastIsWhatWasDone: what failed before it changed anything is no last sync that did
// something.
func TestLastIsWhatWasDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		var told []Status
		a, b := c.device(t, "a"), c.device(t, "b", heard(&told))
		a.say("lost", "one")
		a.sync()
		for _, d := range c.Docs(testDatabase, testContainer) {
			if documentOf(d).Type == segment.TypeSegment && documentOf(d).PK == "s-"+a.engine.SID("lost") {
				require.NoError(t, c.Remove(testDatabase, testContainer, d.Partition, d.ID))
			}
		}
		for range 2 {
			_, err := b.Pull(t.Context(), "lost")
			require.ErrorIs(t, err, ErrDamaged)
		}
		require.Len(t, told, 1, "of one failure")
		require.Equal(t, Nothing, told[0].Last)
		require.Zero(t, told[0].LastAt)
	})
}

// TestSmallFilesAreSomething: a sync that brought or sent metadata alone is told of.
func TestSmallFilesAreSomething(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	var told []Status
	a, b := c.device(t, "a"), c.device(t, "b", heard(&told))
	a.say("s", "one")
	a.sync()
	b.pull("s")
	told = nil
	b.sync("s")
	b.requireHeard(&told, "s", 0, Pulled)
	b.setMember("s", "note", "x")
	b.sync("s")
	b.requireHeard(&told, "s", 1, Pushed)
	a.setMember("s", "note", "y")
	a.sync("s")
	b.pull("s")
	b.requireHeard(&told, "s", 1, Pulled)
}

// TestStatusIsWhatWasToldLast: whatever hinders a session, Status tells what was done before, as
// OnStatus does.
func TestStatusIsWhatWasToldLast(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	for name, hinder := range map[string]func(*testDevice) error{
		"kept":    func(d *testDevice) error { return d.KeepLocal(t.Context(), "s") },
		"removed": func(d *testDevice) error { return d.Remove(t.Context(), "s") },
		"kept and removed": func(d *testDevice) error {
			return errors.Join(d.KeepLocal(t.Context(), "s"), d.Remove(t.Context(), "s"))
		},
		"held": func(d *testDevice) error {
			c.deviceAt(t, d.Dir(), "a", func(o *Options) { o.Project, o.Redact = "held", Secrets() })
			d.say("s", "two")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			var told []Status
			d := c.device(t, "a", heard(&told), func(o *Options) { o.Project = name })
			d.say("s", "one")
			d.sync()
			d.requireHeard(&told, "s", 1, Pushed)
			require.NoError(t, hinder(d))
			_, _ = d.Sync(t.Context(), "s")
			require.Len(t, told, 1)
			is := d.state("s")
			require.Equal(t, told[0].State, is.State)
			require.NotEqual(t, UpToDate, is.State)
			require.Equal(t, Pushed, is.Last)
			require.Equal(t, told[0].LastAt, is.LastAt)
		})
	}
}
