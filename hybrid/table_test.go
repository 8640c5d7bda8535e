package hybrid

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// TestTableIsWrittenNowAndThen: the table of all sessions is written by a close, and else once a
// minute if something changed, not by each turn and not by what is idle.
func TestTableIsWrittenNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a")
		written := func() []os.FileInfo {
			all, err := filepath.Glob(filepath.Join(a.Dir(), sessiondir.Bookkeeping, statesDir, replica.Prefix+"????????????????"))
			require.NoError(t, err)
			files := make([]os.FileInfo, len(all))
			for i, path := range all {
				files[i], err = os.Stat(path)
				require.NoError(t, err)
			}
			return files
		}
		for range 5 {
			a.say("s", "one")
			a.sync()
		}
		require.Empty(t, written())
		time.Sleep(saveEvery)
		a.say("s", "two")
		a.sync()
		first := written()
		require.Len(t, first, 1)
		for range 3 {
			a.say("s", "three")
			a.sync()
		}
		require.True(t, os.SameFile(first[0], written()[0]))
		require.NoError(t, a.Close())
		second := written()
		require.False(t, os.SameFile(first[0], second[0]))

		a = c.deviceAt(t, a.Dir(), "a")
		idle := func() {
			for range 3 {
				time.Sleep(2 * saveEvery)
				a.sync()
			}
		}
		idle()
		third := written()
		idle()
		require.NoError(t, a.Close())
		require.True(t, os.SameFile(third[0], written()[0]), "nothing changed")
	})
}
