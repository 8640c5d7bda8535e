package hybrid

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
)

// holdLocks takes the locks below a sessions directory, as other programs do, and
// returns the call that gives them back. It leaves those that are held.
func holdLocks(t *testing.T, dir string) (free func()) {
	t.Helper()
	var held []*lock.Lock
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".lock") {
			return err
		}
		root, err := os.OpenRoot(filepath.Dir(path))
		require.NoError(t, err)
		defer func() { require.NoError(t, root.Close()) }()
		one, err := lock.Try(root, d.Name(), 0o600)
		if !errors.Is(err, lock.ErrBusy) { // as that of a program which runs
			require.NoError(t, err)
			held = append(held, one)
		}
		return nil
	}))
	require.Len(t, held, 3, "two sessions, and the table of what the device knows")
	return func() {
		for _, one := range held {
			require.NoError(t, one.Unlock())
		}
	}
}

// TestWaitingForLocksIsBounded has another program hold the locks of a sessions
// directory while a call is made. It ends 100 ms after its context at the latest,
// and Close after CloseWait. Nothing is missing once the locks are free.
func TestWaitingForLocksIsBounded(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(boundedCalls)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { boundedByLocks(t, name) })
		})
	}
}

func boundedByLocks(t *testing.T, name string) {
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	b.say("there", "one", "two")
	b.say("s", "one")
	b.sync()
	a.pull("s")
	b.say("s", "two")
	b.sync()
	a.say("new", "one")
	time.Sleep(time.Hour) // no program uses them any more
	limit := 300 * time.Millisecond
	if name == "Close" {
		limit = 2 * time.Second
	}
	a.engine.saveNow(t.Context())
	free := holdLocks(t, a.Dir())
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	start := time.Now()
	err := boundedCalls[name](ctx, a.Store)
	require.LessOrEqual(t, time.Since(start), limit+100*time.Millisecond, "%v", err)
	free()
	requireClosed(t, a.Store)
	time.Sleep(time.Hour)
	again := c.deviceAt(t, a.Dir(), "a")
	again.sync()
	require.Equal(t, []string{"one", "two"}, again.texts("s"))
	b.pull()
	require.Equal(t, []string{"one"}, b.texts("new"))
}
