package vfs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLargeFiles reads, appends to and makes files of 4 GiB. They are sparse. A
// program of 32 bits must ask the system for them: part 386 of .ci/soak runs this.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	const size = 4 << 30
	d, path := openDir(t, nil)
	put(t, "", path, "f")
	require.NoError(t, os.Truncate(filepath.Join(path, "f"), size))
	require.NoError(t, os.Symlink("f", filepath.Join(path, "link")))
	a, made, err := d.Append("f")
	require.NoError(t, err)
	require.False(t, made)
	require.NoError(t, a.Write([]byte("end"), size))
	require.NoError(t, a.Close())
	for name, open := range map[string]func() (*os.File, error){
		"read":      func() (*os.File, error) { return d.OpenRead("f") },
		"fast":      func() (*os.File, error) { return d.open("f", os.O_RDONLY) },
		"by a link": func() (*os.File, error) { return d.open("link", os.O_RDONLY) },
	} {
		f, err := open()
		require.NoError(t, err, name)
		last := make([]byte, 3)
		_, err = f.ReadAt(last, size)
		require.NoError(t, err, name)
		require.Equal(t, "end", string(last), name)
		require.NoError(t, f.Close())
	}
	g, err := d.create("g")
	require.NoError(t, err)
	_, err = g.File().WriteAt([]byte("end"), size)
	require.NoError(t, err)
	require.NoError(t, g.Close())
}
