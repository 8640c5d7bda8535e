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
	b := openBase(t, nil)
	put(t, "1", b.Path(), "s", "sub", "f")
	put(t, "mine", b.Path(), "file")
	dir, err := b.Trash()
	require.NoError(t, err)
	require.NoError(t, dir.Mkdir("r"))
	require.NoError(t, dir.Close())
	dir, err = b.Trash()
	require.NoError(t, err, "it may be there")
	require.NoError(t, dir.Close())
	to := filepath.Join(Trash, "r")

	require.ErrorIs(t, b.Send("none", to), fs.ErrNotExist)
	require.ErrorIs(t, b.Send("file", to), fs.ErrNotExist)
	require.ErrorIs(t, b.Send("s", filepath.Join(Trash, "none")), fs.ErrNotExist)
	require.Error(t, b.Send("s", filepath.Join("..", "..")), "nothing leads outside")
	require.NoError(t, b.Send("s", to))
	require.NoError(t, b.SyncAt(to, "."))
	require.False(t, b.Has("s"))
	require.Equal(t, "1", content(t, filepath.Join(b.Path(), to, "s", "sub"))["f"])

	put(t, "2", b.Path(), "s", "f")
	require.ErrorIs(t, b.Send("s", to), fs.ErrExist, "nothing is written over")
	require.ErrorIs(t, b.Fetch("s", to), fs.ErrExist)
	require.Equal(t, "2", content(t, filepath.Join(b.Path(), "s"))["f"])
	require.NoError(t, b.Discard("s", false))
	require.NoError(t, os.Mkdir(filepath.Join(b.Path(), "s"), 0o700))
	require.ErrorIs(t, b.Fetch("s", to), fs.ErrExist, "an empty directory would be replaced by a mere rename")
	require.NoError(t, os.Remove(filepath.Join(b.Path(), "s")))
	require.NoError(t, b.Fetch("s", to))
	require.Equal(t, "1", content(t, filepath.Join(b.Path(), "s", "sub"))["f"])
	require.ErrorIs(t, b.Fetch("s", to), fs.ErrNotExist)

	if runtime.GOOS != "windows" {
		require.NoError(t, os.Symlink("s", filepath.Join(b.Path(), "link")))
		require.ErrorContains(t, b.Send("link", to), "symlink")
		require.ErrorContains(t, b.Destroy("link", false), "symlink")
	}
	require.NoError(t, b.Destroy(to, true))
	require.NoDirExists(t, filepath.Join(b.Path(), to))
	require.ErrorIs(t, b.Destroy(to, true), fs.ErrNotExist)
}

func TestTrashIsReserved(t *testing.T) {
	t.Parallel()
	for id, reserved := range map[string]bool{".trash": true, ".Trash": true, "trash": false, ".trash2": false} {
		require.Equal(t, reserved, Reserved(id), id)
	}
}
