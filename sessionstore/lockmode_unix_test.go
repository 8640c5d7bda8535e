//go:build unix

package sessionstore_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// A lock file is for its owner alone, whatever umask says: who may read it could hold the
// lock.
func TestLockFileIsForItsOwner(t *testing.T) { // not parallel: umask is the process's
	old := unix.Umask(0o022)
	defer unix.Umask(old)
	st, err := sessionstore.Open(t.TempDir(), nil)
	require.NoError(t, err)
	long := strings.Repeat("x", 240)
	for _, id := range []string{"s", long} {
		require.NoError(t, st.Create(t.Context(), id, sessionstore.Metadata{}))
	}
	locks := 0
	require.NoError(t, filepath.WalkDir(st.Dir(), func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		if strings.HasSuffix(path, ".lock") {
			fi, err := os.Stat(path)
			require.NoError(t, err)
			require.Zero(t, fi.Mode().Perm()&0o077, path)
			locks++
		}
		return nil
	}))
	require.GreaterOrEqual(t, locks, 2)
	require.NoError(t, st.Close())
}
