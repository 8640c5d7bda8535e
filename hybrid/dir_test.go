package hybrid

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// inDirectory opens a device whose remote is a directory, which it opens by itself.
func inDirectory(t *testing.T, place, name string) *testDevice {
	t.Helper()
	r, err := dir.Open(t.Context(), place)
	require.NoError(t, err)
	testenv.Cleanup(t, func() { require.NoError(t, r.Close()) })
	s, err := open(t.Context(), filepath.Join(t.TempDir(), name, "sessions"), &Options{
		Store:  &sessionstore.Options{Durability: sessionstore.Relaxed},
		Remote: r, Project: "demo", User: "ada", Device: name, Manual: true,
	}, nil)
	require.NoError(t, err)
	testenv.Cleanup(t, func() { requireClosed(t, s) })
	return &testDevice{s, t}
}

func directory(t *testing.T) string {
	t.Helper()
	place := filepath.Join(t.TempDir(), "remote")
	require.NoError(t, dir.Provision(t.Context(), place))
	return place
}

// TestInDirectory is [TestInMemory] with a directory, of which the clock is that of the machine.
func TestInDirectory(t *testing.T) {
	t.Parallel()
	place := directory(t)
	devices := []*testDevice{inDirectory(t, place, "a"), inDirectory(t, place, "b")}
	atRandom(t, testenv.Rand(t), devices, func(time.Duration) {})
}

// TestDirectoryApart refuses a remote in the sessions, around them, and in their place.
func TestDirectoryApart(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for _, at := range [][2]string{{"a/sessions", "a/sessions/remote"}, {"b/sessions", "b"}, {"c", "c"}, {"d/sessions", "d/remote"}} {
		sessions, place := filepath.Join(top, at[0]), filepath.Join(top, at[1])
		require.NoError(t, os.MkdirAll(place, 0o700))
		require.NoError(t, dir.Provision(t.Context(), place))
		r, err := dir.Open(t.Context(), place)
		require.NoError(t, err)
		s, err := Open(t.Context(), sessions, &Options{Remote: r, Project: "demo", Manual: true})
		if at[1] == "d/remote" {
			require.NoError(t, err)
			requireClosed(t, s)
		} else {
			require.ErrorIs(t, err, ErrBlocked)
			require.ErrorContains(t, err, "within the other")
		}
		require.NoError(t, r.Close())
	}
}

// TestDirectoryIsAnother gives a store another directory: what the first one had is sent there.
func TestDirectoryIsAnother(t *testing.T) {
	t.Parallel()
	a := inDirectory(t, directory(t), "a")
	a.say("s", "one")
	a.sync()
	require.NoError(t, a.Close())
	other := directory(t)
	r, err := dir.Open(t.Context(), other)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	s, err := Open(t.Context(), a.Dir(), &Options{Remote: r, Project: "demo", User: "ada", Device: "a", Manual: true})
	require.NoError(t, err)
	moved := &testDevice{s, t}
	moved.sync()
	b := inDirectory(t, other, "b")
	b.pull()
	require.Equal(t, moved.texts("s"), b.texts("s"))
	requireClosed(t, s)
}

// TestDirectoryHangs opens a store while its directory does not answer, and writes. The sync
// comes when it answers.
func TestDirectoryHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		place := directory(t)
		var hangs atomic.Bool
		answers := make(chan struct{})
		r, err := openSeamed(place, &seam.Seam{Before: func(seam.Op) error {
			if hangs.Load() {
				<-answers
			}
			return nil
		}})
		require.NoError(t, err)
		time.Sleep(time.Minute) // it is asked for its time again
		hangs.Store(true)
		s, err := Open(t.Context(), filepath.Join(t.TempDir(), "sessions"), &Options{
			Remote: r, Project: "demo", User: "ada", Device: "a", Manual: true,
		})
		require.NoError(t, err)
		a := &testDevice{s, t}
		a.say("s", "one")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = a.Sync(ctx)
		require.ErrorIs(t, err, ErrUnreachable)
		hangs.Store(false)
		close(answers)
		time.Sleep(time.Minute) // it may be asked again
		a.sync()
		require.Equal(t, UpToDate, a.state("s").State)
		requireClosed(t, s)
		require.NoError(t, r.Close())
	})
}
