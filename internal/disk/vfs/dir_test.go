package vfs

import (
	"errors"
	"io"
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

// openDir opens a fresh directory for the length of the test.
func openDir(t *testing.T, seam *seam.Seam) (*Dir, string) {
	t.Helper()
	path := t.TempDir()
	root, err := os.OpenRoot(path)
	require.NoError(t, err)
	d := New(root, seam)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, path
}

func put(t *testing.T, content string, path ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(path...), []byte(content), 0o600))
}

// content returns the files of a directory with what they hold.
func content(t *testing.T, path string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(path)
	require.NoError(t, err)
	files := map[string]string{}
	for _, e := range entries {
		if e.IsDir() {
			files[e.Name()] = "directory"
			continue
		}
		data, err := os.ReadFile(filepath.Join(path, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(data)
	}
	return files
}

// writing returns what writes text in two pieces.
func writing(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text[:len(text)/2])
		if err == nil {
			_, err = io.WriteString(w, text[len(text)/2:])
		}
		return err
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{true, false} {
		d, path := openDir(t, nil)
		err := d.Replace("file", sync, time.Now(), writing("first"))
		require.NoError(t, err)
		require.Equal(t, map[string]string{"file": "first"}, content(t, path))
		require.NoError(t, os.Chmod(filepath.Join(path, "file"), 0o644))
		require.NoError(t, os.Link(filepath.Join(path, "file"), filepath.Join(path, "held")))

		err = d.Replace("file", sync, time.Now(), writing("second"))
		require.NoError(t, err)
		require.NoError(t, d.Sync())
		require.Equal(t, map[string]string{"file": "second", "held": "first"}, content(t, path), "it is a new file")
		fi, err := os.Stat(filepath.Join(path, "file"))
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			require.Equal(t, Mode, fi.Mode().Perm())
		}
	}
}

func TestReplaceSetsTime(t *testing.T) {
	t.Parallel()
	d, path := openDir(t, nil)
	after := time.Now().Add(time.Hour)
	at := Now(after)
	require.True(t, at.After(after))
	require.NoError(t, d.Replace("file", false, at, writing("text")))
	fi, err := os.Stat(filepath.Join(path, "file"))
	require.NoError(t, err)
	require.False(t, fi.ModTime().Before(after.Truncate(time.Second)), fi.ModTime())
}

// TestReplaceFails lets every step fail in turn. The name then leads to the
// old content, whole, and nothing else is left.
func TestReplaceFails(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{true, false} {
		for _, part := range []int{0, 50} {
			for at := 0; ; at++ {
				failer := &crashsim.Failer{At: at, Err: syscall.EIO, Part: part}
				d, path := openDir(t, &seam.Seam{Before: failer.Before})
				put(t, "old", path, "file")
				err := d.Replace("file", sync, time.Now(), writing("the new text"))
				op, failed := failer.Failed()
				if !failed {
					require.NoError(t, err)
					require.Equal(t, map[string]string{"file": "the new text"}, content(t, path))
					require.GreaterOrEqual(t, at, 4, "create, two writes and a rename at least")
					break
				}
				require.ErrorIs(t, err, syscall.EIO, "%v", op.Kind)
				require.ErrorContains(t, err, "file")
				require.Equal(t, map[string]string{"file": "old"}, content(t, path), "%v", op.Kind)
			}
		}
	}
}

func TestReplaceOnAFullDisk(t *testing.T) {
	t.Parallel()
	failer := &crashsim.Failer{At: 1, Err: syscall.ENOSPC, Part: 50, Stays: true}
	d, path := openDir(t, &seam.Seam{Before: failer.Before})
	put(t, "old", path, "file")
	err := d.Replace("file", true, time.Now(), writing("the new text"))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, map[string]string{"file": "old"}, content(t, path))
}

func TestReplaceWithoutContent(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	d, path := openDir(t, nil)
	put(t, "old", path, "file")
	err := d.Replace("file", true, time.Now(), func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, stop)
	})
	require.ErrorIs(t, err, stop)
	require.Equal(t, map[string]string{"file": "old"}, content(t, path))
	put(t, "inside", path, "other")
	require.NoError(t, d.Mkdir("sub"))
	err = d.Replace("sub", true, time.Now(), writing("text"))
	require.Error(t, err, "a directory is not replaced")
	require.Equal(t, map[string]string{"file": "old", "other": "inside", "sub": "directory"}, content(t, path))
}

func TestExchange(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS == "linux" || runtime.GOOS == "darwin", "names are exchanged on Linux and macOS only")
	d, path := openDir(t, nil)
	put(t, "1", path, "a")
	put(t, "2", path, "b")
	require.NoError(t, d.Exchange("a", "b"))
	require.Equal(t, map[string]string{"a": "2", "b": "1"}, content(t, path))
	require.Error(t, d.Exchange("a", "none"))
	require.Equal(t, map[string]string{"a": "2", "b": "1"}, content(t, path))
}

func TestEdit(t *testing.T) {
	t.Parallel()
	d, path := openDir(t, nil)
	put(t, "0123456789", path, "file")
	_, err := d.Edit("none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	e, err := d.Edit("file")
	require.NoError(t, err)
	require.NoError(t, e.Truncate(4))
	require.NoError(t, e.WriteAt([]byte("abc"), 3))
	require.NoError(t, e.Sync())
	require.NoError(t, e.Close())
	require.Equal(t, map[string]string{"file": "012abc"}, content(t, path))
}

func TestAppend(t *testing.T) {
	t.Parallel()
	d, path := openDir(t, nil)
	a, made, err := d.Append("file")
	require.NoError(t, err)
	require.True(t, made)
	require.NoError(t, a.Write([]byte("0123456789"), 0))
	require.NoError(t, a.Write([]byte("abc"), 10))
	require.NoError(t, a.Sync())
	require.NoError(t, a.Close())
	require.Equal(t, map[string]string{"file": "0123456789abc"}, content(t, path))
	a, made, err = d.Append("file")
	require.NoError(t, err)
	require.False(t, made)
	require.NoError(t, a.Close())
}

// TestAppendFails lets every step fail in turn, and requires that what the
// seam refused was not done.
func TestAppendFails(t *testing.T) {
	t.Parallel()
	after := []map[string]string{{}, {"file": "01"}, {"file": "0123"}}
	for at, want := range after { // create, write, sync
		failer := &crashsim.Failer{At: at, Err: syscall.EIO, Part: 50}
		d, path := openDir(t, &seam.Seam{Before: failer.Before})
		a, _, err := d.Append("file")
		if err == nil {
			err = a.Write([]byte("0123"), 0)
			if err == nil {
				err = a.Sync()
			}
			require.NoError(t, a.Close())
		}
		require.ErrorIs(t, err, syscall.EIO, "step %d", at)
		require.Equal(t, want, content(t, path), "step %d", at)
	}
}

// TestConfinement shows that no name and no symlink leads outside.
func TestConfinement(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "symlinks need a privilege on Windows")
	d, path := openDir(t, nil)
	outside := t.TempDir()
	put(t, "mine", outside, "file")
	rel, err := filepath.Rel(path, outside)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(outside, filepath.Join(path, "dir")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "file"), filepath.Join(path, "link")))

	for _, name := range []string{filepath.Join(rel, "file"), "dir/file"} {
		err := d.Replace(name, false, time.Now(), writing("text"))
		require.Error(t, err, name)
		_, err = d.Edit(name)
		require.Error(t, err, name)
		require.Error(t, d.Remove(name), name)
		require.Error(t, d.Rename(name, "x"), name)
		require.Error(t, d.Mkdir(name+"2"), name)
	}
	_, err = d.Edit("link")
	require.Error(t, err)
	err = d.Replace("link", true, time.Now(), writing("text"))
	require.NoError(t, err, "the symlink is replaced, not followed")
	require.NoError(t, d.RemoveAll("dir"))
	require.Equal(t, map[string]string{"link": "text"}, content(t, path))
	require.Equal(t, map[string]string{"file": "mine"}, content(t, outside))
}

func TestMkdir(t *testing.T) {
	t.Parallel()
	d, path := openDir(t, nil)
	require.NoError(t, d.Mkdir("sub"))
	require.ErrorIs(t, d.Mkdir("sub"), fs.ErrExist)
	if runtime.GOOS != "windows" {
		fi, err := os.Stat(filepath.Join(path, "sub"))
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o700), fi.Mode().Perm())
	}
	require.NoError(t, d.Sync())
	require.NoError(t, d.Remove("sub"))
}
