package sessiondir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	path := filepath.Join(top, "a", "b", "sessions")
	for range 2 {
		b, err := Open(path, nil)
		require.NoError(t, err)
		require.Equal(t, path, b.Path())
		require.NoError(t, b.Close())
		require.NoError(t, b.Close())
	}
	if runtime.GOOS != "windows" {
		for _, dir := range []string{path, filepath.Dir(path)} {
			fi, err := os.Stat(dir)
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o700), fi.Mode().Perm())
		}
	}
	put(t, "mine", top, "file")
	for _, path := range []string{"file", "file/sessions"} {
		_, err := Open(filepath.Join(top, path), nil)
		require.Error(t, err, path)
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	for at := 0; ; at++ {
		failer := &crashsim.Failer{At: at, Err: syscall.ENOSPC}
		path := filepath.Join(t.TempDir(), "a", "sessions")
		b, err := Open(path, &seam.Seam{Before: failer.Before})
		if _, failed := failer.Failed(); !failed {
			require.NoError(t, err)
			require.NoError(t, b.Close())
			break
		}
		require.ErrorIs(t, err, syscall.ENOSPC)
	}
}

// TestBaseMadeAnew removes the sessions directory behind the back of a Base,
// as another program may, and makes it again.
func TestBaseMadeAnew(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "an open directory holds its name on Windows")
	b := openBase(t, nil)
	put(t, "old", b.Path(), "s", "f")
	d, err := b.Dir("s")
	require.NoError(t, err)
	require.NoError(t, d.Close())

	require.NoError(t, os.RemoveAll(b.Path()))
	_, err = b.Dir("s")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = b.Entries(func(string) bool { return true })
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, b.Path())

	put(t, "new", b.Path(), "s", "f")
	d, err = b.Dir("s")
	require.NoError(t, err)
	data, _, err := d.Read("f")
	require.NoError(t, err)
	require.Equal(t, "new", string(data))
	require.NoError(t, d.Close())
	require.NoError(t, b.Sync())

	require.NoError(t, os.RemoveAll(b.Path()))
	d, made, err := b.Make("t")
	require.NoError(t, err, "the directory comes back")
	require.True(t, made)
	require.NoError(t, b.Publish(d, true))
	require.NoError(t, d.Close())
	require.True(t, b.Has("t"))
}

func TestMakeAndPublish(t *testing.T) {
	t.Parallel()
	b := openBase(t, nil)
	d, made, err := b.Make("s")
	require.NoError(t, err)
	require.True(t, made)
	require.False(t, b.Has("s"), "it is not there before it is whole")
	replace(t, d, "f", "1")
	require.Equal(t, filepath.Join(b.Path(), "s", "f"), d.Path("f"))
	require.NoError(t, b.Publish(d, true))
	require.Equal(t, map[string]string{"f": "1"}, content(t, filepath.Join(b.Path(), "s")))
	require.NoError(t, b.Abandon(d), "what is published stays")
	require.True(t, b.Has("s"))
	require.NoError(t, d.Close())

	d, made, err = b.Make("s")
	require.NoError(t, err)
	require.False(t, made)
	require.NoError(t, d.Close())
	put(t, "a file", b.Path(), "file")
	_, _, err = b.Make("file")
	require.Error(t, err)
}

func TestAbandon(t *testing.T) {
	t.Parallel()
	b := openBase(t, nil)
	d, _, err := b.Make("s")
	require.NoError(t, err)
	replace(t, d, "f", "1")
	require.NoError(t, b.Abandon(d))
	require.NoError(t, d.Close())
	require.False(t, b.Has("s"))
	require.Empty(t, content(t, filepath.Join(b.Path(), Bookkeeping, "new")))
}

// TestPublishLoses makes one session twice.
func TestPublishLoses(t *testing.T) {
	t.Parallel()
	b := openBase(t, nil)
	first, _, err := b.Make("s")
	require.NoError(t, err)
	second, _, err := b.Make("s")
	require.NoError(t, err)
	replace(t, first, "f", "first")
	replace(t, second, "f", "second")
	require.NoError(t, b.Publish(first, false))
	require.ErrorIs(t, b.Publish(second, false), fs.ErrExist)
	require.NoError(t, b.Abandon(second))
	require.NoError(t, first.Close())
	require.NoError(t, second.Close())
	require.Equal(t, map[string]string{"f": "first"}, content(t, filepath.Join(b.Path(), "s")))
}

func TestEntries(t *testing.T) {
	t.Parallel()
	b := openBase(t, nil)
	for _, id := range []string{"a", "b_x", ".hidden", "c"} {
		require.NoError(t, os.Mkdir(filepath.Join(b.Path(), id), 0o700))
	}
	put(t, "mine", b.Path(), "file")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	require.NoError(t, os.Chtimes(filepath.Join(b.Path(), "a"), at, at))
	entries, err := b.Entries(func(name string) bool { return name != "c" })
	require.NoError(t, err)
	found := map[string]Entry{}
	for _, e := range entries {
		found[e.Name] = e
	}
	require.Len(t, found, 2)
	require.True(t, at.Equal(found["a"].Modified))
	require.Contains(t, found, "b_x")
	require.False(t, b.Has("file"))
	require.True(t, b.Has(".hidden"))
}

func TestLock(t *testing.T) {
	t.Parallel()
	b := openBase(t, nil)
	for _, id := range []string{"s", fmt.Sprintf("%0250d", 1)} {
		require.True(t, b.Free(id))
		for range 3 { // the second time with the file that was left
			lock, err := b.Lock(t.Context(), id)
			require.NoError(t, err)
			require.False(t, b.Free(id))
			require.NoError(t, lock.Unlock())
			require.True(t, b.Free(id))
		}
	}
	entries, err := b.Entries(func(string) bool { return true })
	require.NoError(t, err)
	require.Empty(t, entries, "a lock is no session")
}

// The lock and the directory are those that have the names by now.
func TestLockAndDirFollowTheNames(t *testing.T) {
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
			visit := func() (is fs.FileInfo, err error) {
				lock, err := b.Lock(t.Context(), "s")
				require.NoError(t, err)
				defer func() { require.NoError(t, lock.Unlock()) }()
				d, err := b.Dir("s")
				if err != nil {
					return nil, err
				}
				defer func() { require.NoError(t, d.Close()) }()
				return d.Root().Stat(".")
			}
			_, err = visit()
			require.NoError(t, err)
			require.NoError(t, tt.change(path))
			is, err := visit()
			require.ErrorIs(t, err, tt.want)
			if tt.want == nil {
				require.True(t, IsAt(is, filepath.Join(path, "s")))
			}
		})
	}
}

func TestTrashIsReserved(t *testing.T) {
	t.Parallel()
	for id, reserved := range map[string]bool{".trash": true, ".Trash": true, "trash": false, ".trash2": false} {
		require.Equal(t, reserved, Reserved(id), id)
	}
}
