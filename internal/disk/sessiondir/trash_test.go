package sessiondir

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSendAndFetch(t *testing.T) {
	t.Parallel()
	s, top := stage(t, nil)
	put(t, "1", top, "s", "sub", "f")
	put(t, "mine", top, "file")
	dir, err := s.Trash()
	require.NoError(t, err)
	require.NoError(t, dir.Mkdir("r"))
	require.NoError(t, dir.Close())
	dir, err = s.Trash()
	require.NoError(t, err, "it may be there")
	require.NoError(t, dir.Close())
	to := filepath.Join(Trash, "r")

	require.ErrorIs(t, s.Send("none", to), fs.ErrNotExist)
	require.ErrorIs(t, s.Send("file", to), fs.ErrNotExist)
	require.ErrorIs(t, s.Send("s", filepath.Join(Trash, "none")), fs.ErrNotExist)
	require.Error(t, s.Send("s", filepath.Join("..", "..")), "nothing leads outside")
	require.NoError(t, s.Send("s", to))
	require.NoError(t, s.Sync(to, "."))
	require.NoDirExists(t, filepath.Join(top, "s"))
	require.Equal(t, "1", content(t, filepath.Join(top, to, "s", "sub"))["f"])

	put(t, "2", top, "s", "f")
	require.ErrorIs(t, s.Send("s", to), fs.ErrExist, "nothing is written over")
	require.ErrorIs(t, s.Fetch("s", to), fs.ErrExist)
	require.Equal(t, "2", content(t, filepath.Join(top, "s"))["f"])
	require.NoError(t, s.Delete("s", false))
	require.NoError(t, os.Mkdir(filepath.Join(top, "s"), 0o700))
	require.ErrorIs(t, s.Fetch("s", to), fs.ErrExist, "an empty directory would be replaced by a mere rename")
	require.NoError(t, os.Remove(filepath.Join(top, "s")))
	require.NoError(t, s.Fetch("s", to))
	require.Equal(t, "1", content(t, filepath.Join(top, "s", "sub"))["f"])
	require.ErrorIs(t, s.Fetch("s", to), fs.ErrNotExist)

	if runtime.GOOS != "windows" {
		require.NoError(t, os.Symlink("s", filepath.Join(top, "link")))
		require.ErrorContains(t, s.Send("link", to), "symlink")
		require.ErrorContains(t, s.Delete("link", false), "symlink")
	}
	require.NoError(t, s.Delete(to, true))
	require.NoDirExists(t, filepath.Join(top, to))
	require.ErrorIs(t, s.Delete(to, true), fs.ErrNotExist)
}
