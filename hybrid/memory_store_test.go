package hybrid

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// inMemory opens a device with a container in memory, which syncs when asked.
func inMemory(t *testing.T, c *memremote.Remote, name string) *testDevice {
	t.Helper()
	s, err := open(t.Context(), filepath.Join(t.TempDir(), name, "sessions"), &Options{
		Store:  &sessionstore.Options{Durability: sessionstore.Relaxed},
		Remote: c, Project: "demo", User: "ada", Device: name, Manual: true,
	}, nil, func(e *engine) { e.Remote = c })
	require.NoError(t, err)
	testenv.Cleanup(t, func() { requireClosed(t, s) })
	return &testDevice{s, t}
}

// TestInMemory lets two devices write, rewind, fetch and tidy up at random over a
// container in memory. Where both have a session in the end, they have the same
// lines.
func TestInMemory(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	c := &memremote.Remote{Now: func() time.Time { return now }}
	devices := []*testDevice{inMemory(t, c, "a"), inMemory(t, c, "b")}
	atRandom(t, r, devices, func(d time.Duration) { now = now.Add(d) })
}

// atRandom lets two devices do something at random, with some time in between.
func atRandom(t *testing.T, r *rand.Rand, devices []*testDevice, wait func(time.Duration)) {
	t.Helper()
	for said := range 60 {
		d, id := devices[r.IntN(2)], fmt.Sprint("s", r.IntN(2))
		wait(time.Minute)
		switch r.IntN(6) {
		case 0, 1, 2:
			d.say(id, fmt.Sprint("message ", said))
			d.sync(id)
		case 3:
			_, err := d.Pull(t.Context())
			require.NoError(t, err)
		case 4:
			if d.Exists(id) && len(d.texts(id)) > 1 {
				d.cutTo(id, len(d.texts(id))-1)
				d.sync(id)
			}
		case 5:
			d.prune(atOnceOf())
		}
	}
	for range 3 {
		for _, d := range devices {
			wait(time.Hour)
			d.sync()
			_, err := d.Pull(t.Context())
			require.NoError(t, err)
		}
	}
	for _, id := range []string{"s0", "s1"} {
		if devices[0].Exists(id) && devices[1].Exists(id) {
			require.Equal(t, devices[0].texts(id), devices[1].texts(id), id)
			_, err := devices[1].Check(t.Context(), id, nil)
			require.NoError(t, err)
		}
	}
}

// TestRefusedInMemory refuses requests in the way of each class. A sync that says
// nothing of it has sent everything.
func TestRefusedInMemory(t *testing.T) {
	t.Parallel()
	for _, is := range []error{ErrUnreachable, ErrBlocked, ErrFull} {
		t.Run(is.Error(), func(t *testing.T) {
			t.Parallel()
			refuse := true
			c := &memremote.Remote{Refuse: func() error {
				if !refuse {
					return nil
				}
				return fmt.Errorf("refused: %w", is)
			}}
			a, b := inMemory(t, c, "a"), inMemory(t, c, "b")
			a.say("s", "one")
			_, err := a.Sync(context.Background(), "s")
			require.ErrorIs(t, err, is)
			refuse = false
			a.sync("s")
			b.pull("s")
			require.Equal(t, []string{"one"}, b.texts("s"))
		})
	}
}
