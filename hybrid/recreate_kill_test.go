package hybrid

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestRecreateIsKilled ends a Recreate at requests of it, with TEST_LONG=all at each, before it is
// done and after. The session is whole then, or a tombstone. The next sync of that device finishes, in the
// background or asked, and so does the next call, also under later rules.
func TestRecreateIsKilled(t *testing.T) {
	t.Parallel()
	running := func(o *Options) { o.Manual = false }
	for name, one := range map[string]struct {
		edit func(*Options)
		goOn func(d *testDevice)
	}{
		"background":       {running, func(*testDevice) { time.Sleep(time.Hour) }},
		"sync":             {nil, func(d *testDevice) { d.sync() }},
		"recreate":         {nil, func(d *testDevice) { d.recreate("s") }},
		"under later ones": {under(3), func(d *testDevice) { d.sync("s") }},
	} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " after ", after), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					c := newCloud(t, nil)
					a, b := c.twoLogs(t)
					requireClosed(t, a.Store)
					born := c.headOf(t, a.engine.SID("s")).Born
					began, saved, here := c.Snapshot(), saveDirs(t, a.Dir()), a.files()
					r := testenv.Rand(t)
					for n := 1; ; n += sparsely(r, 1) {
						c.Restore(began)
						saved.restore(t)
						why := fmt.Sprintf("killed at request %d", n)
						killed := false
						w := &tripwire{at: n, after: after}
						w.trip = func() { killed = true; w.kill(true) }
						a = c.deviceAt(t, a.Dir(), "a", under(2), c.over(t, w))
						ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
						err := a.Recreate(ctx, "s")
						cancel()
						requireClosed(t, a.Store)
						if !killed {
							require.NoError(t, err)
							require.Greater(t, n, 10)
							return
						}
						edit := []func(*Options){under(2)}
						if one.edit != nil {
							edit = append(edit, one.edit)
						}
						a = c.deviceAt(t, a.Dir(), "a", edit...)
						if h := c.headOf(t, a.engine.SID("s")); h.Born == born && !h.Deleted {
							one.goOn(a)
							_, err := a.Check(t.Context(), "s", nil)
							require.NoError(t, err, why)
							if name != "recreate" {
								require.Equal(t, born, c.headOf(t, a.engine.SID("s")).Born, why)
							}
						} else {
							one.goOn(a)
							require.Empty(t, c.stored(t, "apple", "pear"), why)
							require.Equal(t, UpToDate, a.state("s").State, why)
							c.requireBothKept(t, fmt.Sprint(name, after, n))
							require.Empty(t, b.sync("s").Conflicts, why)
							require.Zero(t, a.sync("s").Pushed+b.sync("s").Pushed, why)
						}
						require.Equal(t, here, a.files(), why)
						requireClosed(t, a.Store)
					}
				})
			})
		}
	}
}

// requireBothKept requires a new device to get one event of each device.
func (c *cloud) requireBothKept(t *testing.T, name string) {
	t.Helper()
	fresh := c.device(t, "fresh"+name, under(3))
	fresh.pull("s")
	require.Len(t, fresh.logTexts("s"), 2, name)
	require.Len(t, fresh.texts("s"), 2)
	_, err := fresh.Check(t.Context(), "s", nil)
	require.NoError(t, err, name)
}
