package checkpoint

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
)

// TestEveryFaultOfACleanup fails each operation of a clean-up in turn: no
// output is lost, and an unfinished session stands whole under one name.
func TestEveryFaultOfACleanup(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"completed", "interrupted"} {
		for k := 0; ; k++ {
			st, output := newStore(t), t.TempDir()
			s := put(t, st, output, old(t, output, status))
			touch(t, s.Dir(), "research-structure.md")
			failer := &crashsim.Failer{At: k, Err: errors.New("broken")}
			st.opts.seam = &seam.Seam{Before: failer.Before}
			_, err := st.Cleanup(t.Context(), output, 0)
			_, failed := failer.Failed()
			require.Equal(t, failed, err != nil, "%s, operation %d", status, k)
			found := false
			for _, dir := range []string{output, s.Dir(), s.Dir() + ".archive"} {
				_, err := os.Stat(filepath.Join(dir, "research-structure.md"))
				found = found || err == nil
			}
			require.True(t, found, "%s, operation %d", status, k)
			if status == "interrupted" {
				_, here := st.Open(s.Dir())
				_, there := st.Open(s.Dir() + ".archive")
				require.True(t, (here == nil) != (there == nil), "operation %d", k)
			}
			if !failed {
				require.Positive(t, k)
				break
			}
		}
	}
}

// TestArchivedSessionTakesNoMoreChanges holds that a writer that waited for
// the lock meanwhile does not write into the archive.
func TestArchivedSessionTakesNoMoreChanges(t *testing.T) {
	t.Parallel()
	if !movesOpen() {
		t.Skip("a directory that is open is not renamed here")
	}
	st, output := newStore(t), t.TempDir()
	s := put(t, st, output, old(t, output, "interrupted"))
	f, err := st.openFolder(s.Dir())
	require.NoError(t, err)
	defer f.Close()
	_, err = st.Cleanup(context.Background(), output, 0)
	require.NoError(t, err)
	_, err = f.lock(t.Context(), s.Dir())
	require.ErrorIs(t, err, os.ErrNotExist)
}
