package sessiondir

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	s, top := stage(t, nil)
	put(t, "1", top, "s", "sub", "f")
	put(t, "mine", top, "file")
	put(t, "left by a killed process", top, Bookkeeping, deletedDir, "left", "f")
	require.ErrorIs(t, s.Delete("none", false), fs.ErrNotExist)
	require.ErrorIs(t, s.Delete("file", false), fs.ErrNotExist)
	require.NoError(t, s.Delete("s", true))
	require.Empty(t, content(t, filepath.Join(top, Bookkeeping, deletedDir)))
	require.Equal(t, "mine", content(t, top)["file"])
	require.NoDirExists(t, filepath.Join(top, "s"))
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Symlink(Bookkeeping, filepath.Join(top, "link")))
		require.ErrorIs(t, s.Delete("link", false), errSymlink)
	}
}

func TestDeleteConcurrently(t *testing.T) {
	t.Parallel()
	s, top := stage(t, nil)
	var wg sync.WaitGroup
	for i := range 32 {
		put(t, "1", top, fmt.Sprint("s", i), "f")
	}
	for i := range 32 {
		wg.Go(func() {
			if err := s.Delete(fmt.Sprint("s", i), false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, map[string]string{Bookkeeping: "directory"}, content(t, top))
}
