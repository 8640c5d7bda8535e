package commit

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// openSession opens the session "s", which it makes.
func openSession(t *testing.T, seam *seam.Seam) (d *sessiondir.Dir, path string) {
	t.Helper()
	b, err := sessiondir.Open(filepath.Join(t.TempDir(), "sessions"), seam)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	path = filepath.Join(b.Path(), "s")
	require.NoError(t, os.Mkdir(path, 0o700))
	d, err = b.Dir("s")
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

func writing(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func yes() (bool, error) { return true, nil }

// keep replaces the file name and keeps what it was as its backup.
func keep(d *sessiondir.Dir, name, text string, sync bool) error {
	_, err := File{Dir: d, Name: name, Sync: sync}.Replace(Replacement{Time: time.Now(), Write: writing(text), Rotate: yes})
	return err
}

// without is the seam of a file system that lacks some operations.
func without(kinds ...seam.Kind) *seam.Seam {
	return &seam.Seam{Before: func(op seam.Op) error {
		if slices.Contains(kinds, op.Kind) {
			return errors.ErrUnsupported
		}
		return nil
	}}
}

func fileSystems() map[string]*seam.Seam {
	return map[string]*seam.Seam{
		"exchange":    nil,
		"no exchange": without(seam.Exchange),
		"no leases":   without(seam.Lease),
		"neither":     without(seam.Exchange, seam.Lease),
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
	require.NoError(t, d.Replace("f", false, time.Now(), writing("another's")))
	_, err = File{Dir: d, Name: "f", Sync: true}.Replace(Replacement{Was: was, Time: time.Now(), Write: writing("2"), Rotate: yes})
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
	for name, lacks := range map[string][]seam.Kind{"exchange": nil, "no exchange": {seam.Exchange}, "no leases": {seam.Lease}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := 0; ; at++ {
				failer := &crashsim.Failer{At: at, Err: syscall.EIO, Part: 50}
				ready := false
				d, path := openSession(t, &seam.Seam{Before: func(op seam.Op) error {
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
