package sessiondir

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/fault"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

// century is a step of a clock in which a test begins and ends.
const century = 100 * 365 * 24 * time.Hour

// openBase opens a fresh sessions directory for the length of the test.
func openBase(t *testing.T, seam *fault.Seam) *Base {
	t.Helper()
	b, err := Open(filepath.Join(t.TempDir(), "sessions"), seam)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// openSession opens the session "s", which it makes.
func openSession(t *testing.T, seam *fault.Seam) (d *Dir, path string) {
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

// keep replaces the file name and keeps what it was as its backup.
func keep(d *Dir, name, text string, sync bool) error {
	return d.ReplaceKeeping(name, sync, time.Now(), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}, func() (atomicfile.Keep, error) { return d.Retire(name, Stamp{}, sync) })
}

// without is the seam of a file system that lacks some operations.
func without(kinds ...fault.Kind) *fault.Seam {
	return &fault.Seam{Before: func(op fault.Op) error {
		if slices.Contains(kinds, op.Kind) {
			return errors.ErrUnsupported
		}
		return nil
	}}
}

func fileSystems() map[string]*fault.Seam {
	return map[string]*fault.Seam{
		"exchange":   nil,
		"hard links": without(fault.Exchange),
		"neither":    without(fault.Exchange, fault.Link),
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	for name, seam := range fileSystems() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, path := openSession(t, seam)
			require.NoError(t, keep(d, "f", "1", true))
			require.Equal(t, map[string]string{"f": "1"}, content(t, path))
			require.NoError(t, keep(d, "f", "2", true))
			require.Equal(t, map[string]string{"f": "2", "f.backup": "1"}, content(t, path))
			require.NoError(t, keep(d, "f", "3", false))
			require.Equal(t, map[string]string{"f": "3", "f.backup": "2"}, content(t, path))
		})
	}
}

// TestKeepIsOvertaken replaces the file between its stamp and its replacement.
func TestKeepIsOvertaken(t *testing.T) {
	t.Parallel()
	d, path := openSession(t, nil)
	put(t, "1", path, "f")
	was, err := d.Stat("f")
	require.NoError(t, err)
	replace(t, d, "f", "another's")
	err = d.ReplaceKeeping("f", true, time.Now(), func(w io.Writer) error {
		_, err := io.WriteString(w, "2")
		return err
	}, func() (atomicfile.Keep, error) { return d.Retire("f", was, true) })
	require.ErrorIs(t, err, ErrOvertaken)
	require.Equal(t, map[string]string{"f": "another's"}, content(t, path))
}

func TestKeepWhereTheBackupIsTheFile(t *testing.T) {
	t.Parallel()
	d, path := openSession(t, nil)
	put(t, "1", path, "f")
	require.NoError(t, os.Link(filepath.Join(path, "f"), filepath.Join(path, "f.backup")))
	require.NoError(t, keep(d, "f", "2", true))
	require.Equal(t, map[string]string{"f": "2", "f.backup": "1"}, content(t, path))
}

func TestKeepWithADirectoryAsBackup(t *testing.T) {
	t.Parallel()
	for name, seam := range fileSystems() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, path := openSession(t, seam)
			put(t, "1", path, "f")
			put(t, "inside", path, "f.backup", "f")
			at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			require.NoError(t, os.Chtimes(filepath.Join(path, "f.backup"), at, at))
			require.NoError(t, keep(d, "f", "2", true))
			require.Equal(t, map[string]string{"f": "2", "f.backup": "1", "f.backup.damaged-20260102T030405Z": "directory"}, content(t, path))
			require.Equal(t, map[string]string{"f": "inside"}, content(t, filepath.Join(path, "f.backup.damaged-20260102T030405Z")))
		})
	}
}

func TestKeepOfASymlink(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "symlinks need a privilege on Windows")
	d, path := openSession(t, nil)
	put(t, "1", path, "target")
	require.NoError(t, os.Symlink("target", filepath.Join(path, "f")))
	require.NoError(t, keep(d, "f", "2", true))
	require.Equal(t, map[string]string{"f": "2", "f.backup": "1", "target": "1"}, content(t, path))

	outside := t.TempDir()
	put(t, "mine", outside, "file")
	require.NoError(t, os.Symlink(filepath.Join(outside, "file"), filepath.Join(path, "out")))
	require.Error(t, keep(d, "out", "2", true))
	require.NoFileExists(t, filepath.Join(path, "out.backup"))
}

// TestKeepFails lets every step fail in turn: the file is the old one or the
// new one, whole, and so is its backup, and nothing of either is gone for
// good but with the new file in place.
func TestKeepFails(t *testing.T) {
	t.Parallel()
	for name, lacks := range map[string][]fault.Kind{"exchange": nil, "hard links": {fault.Exchange}, "neither": {fault.Exchange, fault.Link}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := 0; ; at++ {
				failer := &fault.Failer{At: at, Err: syscall.EIO, Part: 50}
				ready := false
				d, path := openSession(t, &fault.Seam{Before: func(op fault.Op) error {
					if slices.Contains(lacks, op.Kind) {
						return errors.ErrUnsupported
					}
					if !ready {
						return nil
					}
					return failer.Before(op)
				}})
				ready = true
				put(t, "file", path, "f")
				put(t, "backup", path, "f.backup")
				err := keep(d, "f", "new", true)
				op, failed := failer.Failed()
				now := content(t, path)
				require.Contains(t, []string{"file", "new"}, now["f"], "%v", op.Kind)
				require.Contains(t, []string{"file", "backup"}, now["f.backup"], "%v", op.Kind)
				if !failed {
					require.NoError(t, err)
					require.Equal(t, map[string]string{"f": "new", "f.backup": "file"}, now)
					break
				}
				require.Contains(t, slices.Collect(maps.Values(now)), "file", "%v leaves %v", op.Kind, now)
			}
		})
	}
}

func TestPutAside(t *testing.T) {
	t.Parallel()
	d, path := openSession(t, nil)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	for i, want := range []string{"f.damaged-20260102T020405Z", "f.damaged-20260102T020405Z-2", "f.damaged-20260102T020405Z-3"} {
		text := strings.Repeat("x", i+1)
		put(t, text, path, "f")
		require.NoError(t, os.Chtimes(filepath.Join(path, "f"), at, at))
		require.Equal(t, want, d.AsideName("f"))
		got, err := d.PutAside("f")
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, text, content(t, path)[want], "nothing is overwritten")
	}
	_, err := d.PutAside("none")
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

	require.NoError(t, d.Exchange("a", "b"))
	require.False(t, a.Same(stamp("a")), "exchanged")
	require.False(t, b.Same(stamp("b")), "exchanged")
	if a.Inode != 0 {
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
	d, _ := openSession(t, &fault.Seam{Clock: time.Second})
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
	require.ElementsMatch(t, []string{"dir", "empty"}, d.Names())
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
		n, err := fill(f, got)
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
