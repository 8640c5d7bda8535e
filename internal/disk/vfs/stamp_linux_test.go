package vfs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// settle looks at the file f of session s until its stamp is good for later.
func settle(t *testing.T, b *Sessions, want string) Stamp {
	t.Helper()
	for {
		data, now, ok := b.ReadStamped("s", "f")
		require.True(t, ok)
		require.Equal(t, want, string(data))
		if now != (Stamp{}) || !isLocalAt(t, b.path) {
			return now
		}
	}
}

// fileChanges are what may happen to the file f of session s in dir, which
// holds "content". There is a session t, too. Want is what is read then, and
// empty where nothing is to be read quickly.
var fileChanges = []struct {
	name string
	do   func(t *testing.T, dir string)
	want string
}{
	{"rewritten in its place, as large", func(t *testing.T, dir string) { putFile(t, "CONTENT", dir, "s", "f") }, "CONTENT"},
	{"one byte written", func(t *testing.T, dir string) {
		f, err := os.OpenFile(filepath.Join(dir, "s", "f"), os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteAt([]byte{'C'}, 0)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}, "Content"},
	{"rewritten and its time put back", func(t *testing.T, dir string) {
		path := filepath.Join(dir, "s", "f")
		fi, err := os.Stat(path)
		require.NoError(t, err)
		putFile(t, "CONTENT", path)
		require.NoError(t, os.Chtimes(path, fi.ModTime(), fi.ModTime()))
	}, "CONTENT"},
	{"replaced by one of that time", func(t *testing.T, dir string) {
		path := filepath.Join(dir, "s", "f")
		fi, err := os.Stat(path)
		require.NoError(t, err)
		putFile(t, "CONTENT", path+"2")
		require.NoError(t, os.Chtimes(path+"2", fi.ModTime(), fi.ModTime()))
		require.NoError(t, os.Rename(path+"2", path))
	}, "CONTENT"},
	{"shorter", func(t *testing.T, dir string) { require.NoError(t, os.Truncate(filepath.Join(dir, "s", "f"), 3)) }, "con"},
	{"emptied", func(t *testing.T, dir string) { putFile(t, "", dir, "s", "f") }, ""},
	{"removed", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "s", "f"))) }, ""},
	{"made anew", func(t *testing.T, dir string) {
		require.NoError(t, os.Remove(filepath.Join(dir, "s", "f")))
		putFile(t, "CONTENT", dir, "s", "f")
	}, "CONTENT"},
	{"a directory", func(t *testing.T, dir string) {
		require.NoError(t, os.Remove(filepath.Join(dir, "s", "f")))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "s", "f"), 0o700))
	}, ""},
	{"a symlink to itself beside", func(t *testing.T, dir string) {
		require.NoError(t, os.Rename(filepath.Join(dir, "s", "f"), filepath.Join(dir, "s", "g")))
		require.NoError(t, os.Symlink("g", filepath.Join(dir, "s", "f")))
	}, ""},
	{"named twice", func(t *testing.T, dir string) {
		require.NoError(t, os.Link(filepath.Join(dir, "s", "f"), filepath.Join(dir, "g")))
	}, "content"},
	{"the session removed", func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(filepath.Join(dir, "s"))) }, ""},
	{"the session exchanged", func(t *testing.T, dir string) {
		require.NoError(t, unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, "s"), unix.AT_FDCWD, filepath.Join(dir, "t"), unix.RENAME_EXCHANGE))
	}, "of another"},
	{"the session a symlink to another", func(t *testing.T, dir string) {
		require.NoError(t, os.Rename(filepath.Join(dir, "s"), filepath.Join(dir, "moved")))
		require.NoError(t, os.Symlink("t", filepath.Join(dir, "s")))
	}, ""},
	{"the session a symlink to a copy outside", func(t *testing.T, dir string) {
		require.NoError(t, os.CopyFS(dir+"-copy", os.DirFS(filepath.Join(dir, "s"))))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "s")))
		require.NoError(t, os.Symlink(dir+"-copy", filepath.Join(dir, "s")))
	}, ""},
	{"the directory replaced", func(t *testing.T, dir string) {
		require.NoError(t, os.Rename(dir, dir+"-moved"))
		putFile(t, "CONTENT", dir, "s", "f")
	}, "CONTENT"},
	{"what is above replaced", func(t *testing.T, dir string) {
		top := filepath.Dir(dir)
		require.NoError(t, os.Rename(top, top+"-moved"))
		putFile(t, "CONTENT", dir, "s", "f")
	}, "CONTENT"},
	{"the directory gone", func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(dir)) }, ""},
}

// TestStampsTellEveryChange changes what was read, at once after it was read and when its
// stamp was good for later: what is read then is that of now, and has another stamp, or none.
func TestStampsTellEveryChange(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"plain", "by a symlink"} {
		for _, when := range []string{"at once", "settled"} {
			for _, change := range fileChanges {
				t.Run(way+"/"+when+"/"+change.name, func(t *testing.T) {
					t.Parallel()
					dir, err := filepath.EvalSymlinks(t.TempDir())
					require.NoError(t, err)
					dir = filepath.Join(dir, "top", "sessions")
					putFile(t, "content", dir, "s", "f")
					putFile(t, "of another", dir, "t", "f")
					path := dir
					if way != "plain" {
						path = filepath.Join(t.TempDir(), "link")
						require.NoError(t, os.Symlink(dir, path))
					}
					b := open(t, path, nil)
					data, was, ok := b.ReadStamped("s", "f")
					require.True(t, ok)
					require.Equal(t, "content", string(data))
					if when == "settled" {
						was = settle(t, b, "content")
					}
					change.do(t, dir)
					data, now, ok := b.ReadStamped("s", "f")
					fast, isFast := b.ReadFast("s", "f")
					require.Equal(t, isFast, ok)
					require.Equal(t, fast, data)
					require.Equal(t, change.want, string(data))
					if !ok {
						require.Zero(t, now)
						return
					}
					if now = settle(t, b, change.want); was != (Stamp{}) && change.want != "content" {
						require.False(t, was.Same(now))
					}
				})
			}
		}
	}
}

// TestStampsOfACoarseClock rewrites a file within one step of the clock that gives its
// time: its stamp is none.
func TestStampsOfACoarseClock(t *testing.T) {
	t.Parallel()
	b := openSessions(t, &seam.Seam{Clock: century})
	for _, content := range []string{"a", "b", "c"} {
		putFile(t, content, b.path, "s", "f")
		data, now, ok := b.ReadStamped("s", "f")
		require.True(t, ok)
		require.Equal(t, content, string(data))
		require.Zero(t, now)
	}
}

// TestStampOfAnEmptyFile: nothing is known of what cannot be read quickly.
func TestStampOfAnEmptyFile(t *testing.T) {
	t.Parallel()
	b := openSessions(t, nil)
	putFile(t, "content", b.path, "s", "f")
	settle(t, b, "content")
	putFile(t, "", b.path, "s", "empty")
	long := time.Now().Add(fineStep * 2)
	for asked := time.Now(); asked.Before(long); asked = time.Now() {
		data, now, ok := b.ReadStamped("s", "empty")
		require.Empty(t, data)
		require.False(t, ok)
		require.Zero(t, now)
	}
}
