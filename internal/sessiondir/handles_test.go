package sessiondir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a handles keeps open is given up for what has the name by now.
func TestHandlesFollowsTheNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(base string) error
		want   error
	}{
		{"removed", func(base string) error { return os.RemoveAll(filepath.Join(base, "s")) }, fs.ErrNotExist},
		{"replaced", func(base string) error {
			return errors.Join(os.Rename(filepath.Join(base, "s"), filepath.Join(base, "old")), os.Mkdir(filepath.Join(base, "s"), 0o700))
		}, nil},
		{"sessions directory replaced", func(base string) error {
			return errors.Join(os.Rename(base, base+"-old"), os.MkdirAll(filepath.Join(base, "s"), 0o700))
		}, nil},
		{"a file instead", func(base string) error {
			return errors.Join(os.RemoveAll(filepath.Join(base, "s")), os.WriteFile(filepath.Join(base, "s"), nil, 0o600))
		}, fs.ErrNotExist},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name == "sessions directory replaced" && runtime.GOOS == "windows" {
				t.Skip("an open directory holds its name on Windows")
			}
			path := filepath.Join(t.TempDir(), "sessions")
			require.NoError(t, os.MkdirAll(filepath.Join(path, "s"), 0o700))
			b, err := Open(path, nil)
			require.NoError(t, err)
			defer b.Close()
			handles := b.Handles("s")
			defer handles.Close()
			visit := func() (*Dir, fs.FileInfo, error) {
				lock, err := handles.Lock(t.Context())
				require.NoError(t, err)
				var is fs.FileInfo
				d, err := handles.Dir()
				if err == nil {
					is, err = d.Root().Stat(".")
					require.NoError(t, err)
					require.NoError(t, d.Leave())
				}
				require.NoError(t, lock.Unlock())
				return d, is, err
			}
			first, _, err := visit()
			require.NoError(t, err)
			again, _, err := visit()
			require.NoError(t, err)
			require.Equal(t, keepsHandles, first == again)

			require.NoError(t, tt.change(path))
			_, is, err := visit()
			require.ErrorIs(t, err, tt.want)
			if tt.want == nil {
				require.True(t, IsAt(is, filepath.Join(path, "s")))
			}
		})
	}
}

func TestHandlesExcludesOthers(t *testing.T) {
	t.Parallel()
	b, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer b.Close()
	require.NoError(t, os.Mkdir(filepath.Join(b.Path(), "s"), 0o700))
	handles := b.Handles("s")
	for range 3 { // the second time with the file that was kept
		lock, err := handles.Lock(t.Context())
		require.NoError(t, err)
		require.False(t, b.Free("s"))
		require.NoError(t, lock.Unlock())
		require.True(t, b.Free("s"))
	}
	require.NoError(t, handles.Close())
	require.NoError(t, handles.Close())
}
