package sessiondir

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestForWriteFollowsTheName replaces a session's directory between two writes in each way
// in which another program can: the next write opens what has the name then.
func TestForWriteFollowsTheName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replace func(t *testing.T, path string)
		want    string // what the marker file of the opened directory holds
		err     error
	}{
		"unchanged": {replace: func(*testing.T, string) {}, want: "first"},
		"moved away": {replace: func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+"-away"))
		}, err: fs.ErrNotExist},
		"replaced": {replace: func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+"-away"))
			put(t, "second", path, "marker")
		}, want: "second"},
		"moved and back": {replace: func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+"-away"))
			require.NoError(t, os.Rename(path+"-away", path))
		}, want: "first"},
		"removed and made anew": {replace: func(t *testing.T, path string) {
			require.NoError(t, os.RemoveAll(path))
			put(t, "second", path, "marker")
		}, want: "second"},
		"a file": {replace: func(t *testing.T, path string) {
			require.NoError(t, os.RemoveAll(path))
			put(t, "file", path)
		}, err: fs.ErrNotExist},
		"a symlink beside": {replace: func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+"-away"))
			require.NoError(t, os.Symlink(filepath.Base(path)+"-away", path))
		}, want: "first"},
		"the sessions directory is another": {replace: func(t *testing.T, path string) {
			top := filepath.Dir(path)
			require.NoError(t, os.Rename(top, top+"-away"))
			put(t, "second", path, "marker")
		}, want: "second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openBase(t, nil)
			path := filepath.Join(b.Path(), "s")
			put(t, "first", path, "marker")
			d, err := b.ForWrite("s")
			require.NoError(t, err)
			require.NoError(t, b.Keep(d))
			c.replace(t, path)
			d, err = b.ForWrite("s")
			require.ErrorIs(t, err, c.err)
			if c.err == nil {
				data, _, err := d.Read("marker")
				require.NoError(t, err)
				require.Equal(t, c.want, string(data))
				require.NoError(t, b.Keep(d))
			}
		})
	}
}

// TestForWriteRefusesOutside replaces a session by a symlink that leads out of the sessions
// directory, to the very directory that is open: it is refused as ever.
func TestForWriteRefusesOutside(t *testing.T) {
	t.Parallel()
	b := openBase(t, nil)
	path, outside := filepath.Join(b.Path(), "s"), filepath.Join(t.TempDir(), "s")
	put(t, "first", path, "marker")
	d, err := b.ForWrite("s")
	require.NoError(t, err)
	require.NoError(t, b.Keep(d))
	require.NoError(t, os.Rename(path, outside))
	require.NoError(t, os.Symlink(outside, path))
	_, err = b.ForWrite("s")
	require.ErrorContains(t, err, "leads out of the sessions directory")
}

// TestFewStayOpen writes more sessions than directories stay open. The ones used last are
// open, and Close closes them.
func TestFewStayOpen(t *testing.T) {
	t.Parallel()
	b, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	all := make([]*Dir, mostReady+3)
	for i := range all {
		id := fmt.Sprint("s", i)
		put(t, "", b.Path(), id, "marker")
		all[i], err = b.ForWrite(id)
		require.NoError(t, err)
		require.NoError(t, b.Keep(all[i]))
	}
	open := func() (n int) {
		for _, d := range all {
			if _, err := d.Root().Stat("."); err == nil {
				n++
			}
		}
		return n
	}
	if all[0].Local() {
		require.Equal(t, mostReady, open())
		d, err := b.ForWrite("s3")
		require.NoError(t, err)
		require.Same(t, all[3], d)
		require.NoError(t, b.Keep(d))
	}
	require.NoError(t, b.Close())
	require.Zero(t, open())
}
