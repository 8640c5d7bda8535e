package sessiondir

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// century is a step of a clock in which a test begins and ends.
const century = 100 * 365 * 24 * time.Hour

// openBase opens a fresh sessions directory for the length of the test.
func openBase(t *testing.T, seam *seam.Seam) *Base {
	t.Helper()
	b, err := Open(filepath.Join(t.TempDir(), "sessions"), seam)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// openSession opens the session "s", which it makes.
func openSession(t *testing.T, seam *seam.Seam) (d *Dir, path string) {
	t.Helper()
	b := openBase(t, seam)
	path = filepath.Join(b.Path(), "s")
	require.NoError(t, os.Mkdir(path, 0o700))
	d, err := b.Dir("s")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, path
}

func put(t *testing.T, content string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
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

func replace(t *testing.T, d *Dir, name, text string) {
	t.Helper()
	err := d.Replace(name, false, time.Now(), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	require.NoError(t, err)
}

func TestPutAside(t *testing.T) {
	t.Parallel()
	d, path := openSession(t, nil)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	for i, want := range []string{"f.damaged-20260102T020405Z", "f.damaged-20260102T020405Z-2", "f.damaged-20260102T020405Z-3"} {
		text := strings.Repeat("x", i+1)
		put(t, text, path, "f")
		require.NoError(t, os.Chtimes(filepath.Join(path, "f"), at, at))
		require.Equal(t, want, d.QuarantineName("f"))
		got, err := d.Quarantine("f")
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, text, content(t, path)[want], "nothing is overwritten")
	}
	_, err := d.Quarantine("none")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestStamp(t *testing.T) {
	t.Parallel()
	d, path := openSession(t, nil)
	replace(t, d, "a", "1")
	replace(t, d, "b", "2")
	stamp := func(name string) Stamp {
		s, err := d.Stat(name)
		require.NoError(t, err)
		return s
	}
	a, b := stamp("a"), stamp("b")
	require.True(t, a.Same(stamp("a")))
	require.False(t, a.Same(b))
	data, at, err := d.Read("a")
	require.NoError(t, err)
	require.Equal(t, "1", string(data))
	require.True(t, a.Same(at))

	if err := d.Exchange("a", "b"); !errors.Is(err, errors.ErrUnsupported) {
		require.NoError(t, err)
		require.False(t, a.Same(stamp("a")), "exchanged")
		require.False(t, b.Same(stamp("b")), "exchanged")
		require.Equal(t, a.Inode, stamp("b").Inode)
		require.Equal(t, b.Inode, stamp("a").Inode)
	}
	now := stamp("a")
	replace(t, d, "new", "3")
	require.NoError(t, d.Rename("new", "a"))
	require.False(t, now.Same(stamp("a")), "replaced")
	now = stamp("a")
	require.NoError(t, os.Chtimes(filepath.Join(path, "a"), time.Time{}, now.Mtime.Add(time.Second)))
	require.False(t, now.Same(stamp("a")), "touched")
	now = stamp("a")
	put(t, "33", path, "a")
	require.False(t, now.Same(stamp("a")), "longer")
	_, err = d.Stat("none")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestStampWithACoarseClock pretends a file system that keeps whole seconds.
func TestStampWithACoarseClock(t *testing.T) {
	t.Parallel()
	d, _ := openSession(t, &seam.Seam{Clock: time.Second})
	replace(t, d, "a", "1")
	s, err := d.Stat("a")
	require.NoError(t, err)
	require.Zero(t, s.Mtime.Nanosecond())
	require.Zero(t, s.Ctime.Nanosecond())
}

func TestRead(t *testing.T) {
	t.Parallel()
	d, path := openSession(t, nil)
	require.NoError(t, os.Mkdir(filepath.Join(path, "dir"), 0o700))
	_, _, err := d.Read("dir")
	require.Error(t, err)
	_, _, err = d.Read("none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	put(t, "", path, "empty")
	data, _, err := d.Read("empty")
	require.NoError(t, err)
	require.Empty(t, data)
	require.ElementsMatch(t, []string{"dir", "empty"}, names(t, d))
}

// Large files are read in two halves, whatever has become of their length.
func TestReadLarge(t *testing.T) {
	t.Parallel()
	_, path := openSession(t, nil)
	want := make([]byte, halves+4567)
	for i := range want {
		want[i] = byte(i * i >> 7)
	}
	name := filepath.Join(path, "large")
	require.NoError(t, os.WriteFile(name, want, 0o600))
	for _, size := range []int{halves - 1, halves, len(want) - 1, len(want), len(want) + 1, len(want) + halves} {
		f, err := os.Open(name)
		require.NoError(t, err)
		got := make([]byte, size)
		n, err := fill(t.Context(), f, got)
		if size > len(want) {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		} else {
			require.NoError(t, err)
		}
		require.Equal(t, min(size, len(want)), n)
		require.True(t, bytes.Equal(want[:n], got[:n]))
		rest, err := io.ReadAll(f)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want[n:], rest))
		require.NoError(t, f.Close())
	}
}

func TestConfinement(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "symlinks need a privilege on Windows")
	b := openBase(t, nil)
	outside := t.TempDir()
	put(t, "mine", outside, "file")
	require.NoError(t, os.Symlink(outside, filepath.Join(b.Path(), "link")))
	for _, id := range []string{"link", "..", "../..", outside} {
		_, err := b.Dir(id)
		require.Error(t, err, id)
		_, _, err = b.Make(id)
		require.Error(t, err, id)
	}
	put(t, "1", b.Path(), "s", "f")
	d, err := b.Dir("s")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	require.NoError(t, os.Symlink(filepath.Join(outside, "file"), filepath.Join(b.Path(), "s", "out")))
	for _, name := range []string{"out", "../../" + filepath.Base(outside) + "/file", filepath.Join(outside, "file")} {
		_, _, err := d.Read(name)
		require.Error(t, err, name)
		require.False(t, errors.Is(err, fs.ErrNotExist) && name == "out")
	}
	require.Equal(t, map[string]string{"file": "mine"}, content(t, outside))
}

func names(t *testing.T, d *Dir) []string {
	t.Helper()
	all, err := d.Names()
	require.NoError(t, err)
	return all
}
