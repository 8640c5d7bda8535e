package hybrid

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
)

// TestTimeWaitsForUse rewinds a session on a device whose clock is behind. The head
// keeps its later time, and the directory gets that once the session is not in use,
// although nothing else is left to sync: lists have one order everywhere.
func TestTimeWaitsForUse(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", numbered("m", 0, 4)...)
	a.sync()
	b.pull("s")
	changed := func(d *testDevice) time.Time {
		fi, err := os.Stat(filepath.Join(d.Dir(), "s"))
		require.NoError(t, err)
		return fi.ModTime()
	}
	b.cutTo("s", 2)
	behind := changed(a).Add(-time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(b.Dir(), "s"), time.Time{}, behind))

	out, _ := b.engine.syncOne(context.Background(), "s", syncer.Options{})
	require.NoError(t, out.Err)
	require.Equal(t, syncer.Rewritten, out.Did)
	require.False(t, out.Later.IsZero(), "it is synced again")
	require.Equal(t, behind, changed(b), "the program on b uses the session")

	b.sync()
	require.Equal(t, changed(a), changed(b))
	require.Equal(t, UpToDate, b.state("s").State)
	require.Zero(t, b.sync().Pushed)
	a.pull("s")
	require.Equal(t, changed(a), changed(b))
}
