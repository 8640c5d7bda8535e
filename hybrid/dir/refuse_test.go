package dir

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestCopied refuses what other programs copy, which tells the name of a directory above, or
// what is in it.
func TestCopied(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "symlinks need a right there")
	for _, c := range []struct{ within, has, program string }{
		{"Dropbox/a/b", "", "Dropbox"},
		{"Dropbox (Firm)", "", "Dropbox"},
		{"x", ".dropbox.cache", "Dropbox"},
		{"OneDrive - Firm/a", "", "OneDrive"},
		{"onedrive", "", "OneDrive"},
		{"Library/Mobile Documents/com~apple~CloudDocs/a", "", "iCloud"},
		{"iCloud Drive", "", "iCloud"},
		{"Google Drive/My Drive", "", "Google Drive"},
		{"Library/CloudStorage/GoogleDrive-a@b.c/My Drive", "", "Google Drive"},
		{"Library/CloudStorage/Box-Box", "", "a program for files in a cloud"},
		{"Syncthing", "", "Syncthing"},
		{"x/y", ".stfolder", "Syncthing"},
	} {
		top := t.TempDir()
		above := filepath.Join(top, c.within)
		require.NoError(t, os.MkdirAll(above, 0o700))
		if c.has != "" {
			require.NoError(t, os.Mkdir(filepath.Join(above, c.has), 0o700))
		}
		place := filepath.Join(above, "remote")
		link := filepath.Join(top, "link")
		require.NoError(t, os.Symlink(above, link))
		for _, place := range []string{place, filepath.Join(link, "remote"), place + trust} {
			err := Provision(t.Context(), place)
			require.ErrorIs(t, err, remote.ErrBlocked, c.within)
			require.ErrorContains(t, err, c.program+" copies ")
			_, err = Open(t.Context(), place)
			require.ErrorIs(t, err, remote.ErrBlocked, c.within)
		}
	}
	for _, name := range []string{"my dropbox notes", "driver", "onedrives", "remote"} {
		require.NoError(t, Provision(t.Context(), filepath.Join(t.TempDir(), name)), name)
	}
}

// TestNoRemote opens what Provision did not make.
func TestNoRemote(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "mounted")
	_, err := Open(t.Context(), place)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.Mkdir(place, 0o700))
	_, err = Open(t.Context(), place)
	require.ErrorIs(t, err, remote.ErrBlocked)
	require.ErrorContains(t, err, "mounted?")
	require.Empty(t, names(t, place))
	require.NoError(t, os.WriteFile(filepath.Join(place, "letter.txt"), nil, 0o600))
	err = Provision(t.Context(), place)
	require.ErrorIs(t, err, remote.ErrBlocked)
	require.ErrorContains(t, err, "it is not empty")
	require.Equal(t, []string{"letter.txt"}, names(t, place))
	_, err = Open(t.Context(), filepath.Join(place, "letter.txt"))
	require.Error(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(place, identityFile), []byte("short\n"), 0o600))
	_, err = Open(t.Context(), place)
	require.ErrorContains(t, err, "is damaged")
	require.ErrorContains(t, Provision(t.Context(), place), "is damaged")
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range found {
		all = append(all, f.Name())
	}
	return all
}

// TestProvision makes a remote once, also of a directory that a system put something in.
func TestProvision(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "symlinks need a right there")
	place := filepath.Join(t.TempDir(), "remote")
	require.NoError(t, os.MkdirAll(filepath.Join(place, "lost+found"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(place, ".DS_Store"), nil, 0o600))
	require.NoError(t, Provision(t.Context(), place))
	one := reopened(t, place, nil)
	commit(t, one, &remote.Swap{Object: object("head", "0")})
	require.NoError(t, Provision(t.Context(), place))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(place, link))
	two := reopened(t, link, nil)
	require.Equal(t, one.Path(), two.Path())
	a, err := one.Info(t.Context())
	require.NoError(t, err)
	b, err := two.Info(t.Context())
	require.NoError(t, err)
	c, err := provisioned(t).Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, a.Identity, b.Identity)
	require.NotEqual(t, a.Identity, c.Identity)
	require.Equal(t, []string{".DS_Store", "lost+found", "p-" + part, identityFile}, names(t, place))
}

// TestNoMount opens a directory that is missing, as the mount point of a disk that is not there.
func TestNoMount(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), filepath.Join(t.TempDir(), "disk", "remote"))
	require.ErrorIs(t, err, remote.ErrBlocked)
	require.ErrorContains(t, err, "is what belongs there not mounted? A new remote is made by Provision")
}

// TestNotWritable opens a directory in which no file can be made.
func TestNotWritable(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "remote")
	require.NoError(t, Provision(t.Context(), place))
	for _, reason := range []error{syscall.EROFS, syscall.ENOSPC, syscall.EACCES} {
		_, err := open(place, &seam.Seam{Before: func(op seam.Op) error {
			if op.Kind == seam.Create {
				return reason
			}
			return nil
		}})
		require.ErrorIs(t, err, remote.ErrBlocked)
		require.ErrorContains(t, err, "nothing can be written there")
		require.Equal(t, 1, strings.Count(err.Error(), reason.Error()), err)
	}
}

// TestNoNames opens a directory whose file system knows no way to give a name that must be free.
func TestNoNames(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "remote")
	require.NoError(t, Provision(t.Context(), place))
	refuses := func(kinds ...seam.Kind) *seam.Seam {
		return &seam.Seam{Before: func(op seam.Op) error {
			for _, kind := range kinds {
				if op.Kind == kind {
					return syscall.EPERM
				}
			}
			return nil
		}}
	}
	require.True(t, reopened(t, place, nil).links)
	require.False(t, reopened(t, place, refuses(seam.Link)).links)
	for _, s := range []*seam.Seam{refuses(seam.Link, seam.Rename), refuses(seam.Create)} {
		_, err := open(place, s)
		require.ErrorIs(t, err, remote.ErrBlocked)
		require.ErrorContains(t, err, "no file can get a name")
	}
	replaces := &seam.Seam{Before: func(op seam.Op) error { // as a file system does that ignores the flag
		if op.Kind == seam.Link {
			return syscall.EPERM
		}
		if op.Kind == seam.Rename {
			_ = os.Remove(filepath.Join(op.Dir, op.To))
		}
		return nil
	}}
	_, err := open(place, replaces)
	require.ErrorIs(t, err, remote.ErrBlocked)
	require.ErrorContains(t, err, "a second file got the name")
	require.Equal(t, []string{identityFile}, names(t, place))
}

// TestStrangeFiles puts files of other programs beside objects, and damages some of these.
func TestStrangeFiles(t *testing.T) {
	t.Parallel()
	r := provisioned(t)
	v := commit(t, r, &remote.Swap{Object: object("head", "0")}, object("a", "a"), object("b", "b"))
	at := filepath.Join(r.Path(), "p-"+part)
	for _, name := range []string{".DS_Store", "Thumbs.db", "o-a (1)", "o-A", "o-", "x-a", "f-head/.DS_Store", "f-head/0000000000000009 (1)", "f-head/9", "f-head/000000000000000G"} {
		require.NoError(t, os.WriteFile(filepath.Join(at, name), []byte("x"), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(at, "f-empty"), 0o700))
	old := time.Now().Add(-25 * time.Hour)
	for name, when := range map[string]time.Time{".o-c123": old, ".o-d123": time.Now(), "f-head/.next5": old, "f-head/.next6": time.Now()} {
		require.NoError(t, os.WriteFile(filepath.Join(at, name), []byte("x"), 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(at, name), when, when))
	}
	require.NoError(t, os.Truncate(filepath.Join(at, "o-b"), 30))
	listed := map[string]string{}
	for o, err := range r.List(t.Context(), part, remote.Query{}) {
		require.NoError(t, err)
		listed[o.Name] = string(o.Label)
	}
	require.Equal(t, map[string]string{"head": `{"v":1}`, "a": `{"v":1}`, "b": ""}, listed)
	v = commit(t, r, &remote.Swap{Object: object("head", "1"), If: v})
	require.NoFileExists(t, filepath.Join(at, ".o-c123"))
	require.NoFileExists(t, filepath.Join(at, "f-head/.next5"))
	require.FileExists(t, filepath.Join(at, ".o-d123"))
	require.FileExists(t, filepath.Join(at, "f-head/.next6"))

	_, err := r.Get(t.Context(), part, "empty", "")
	require.ErrorIs(t, err, remote.ErrNotExist)
	for _, damaged := range []string{"", "{", "{}\n", `{"op":"x","label":-1,"body":-1}` + "\n", `{"op":"x","label":2,"body":2}` + "\n{}x", `{"op":"x","label":2,"body":2}` + "\n{}xyz", string(make([]byte, 4096))} {
		require.NoError(t, os.WriteFile(filepath.Join(at, "f-head", numbered(2)), []byte(damaged), 0o600))
		o, err := r.Get(t.Context(), part, "head", v)
		require.NoError(t, err)
		require.Empty(t, o.Label)
		require.Empty(t, o.Body)
		require.NotEmpty(t, o.Version)
	}
	o, err := r.Get(t.Context(), part, "head", "")
	require.NoError(t, err)
	_, err = r.Commit(t.Context(), part, nil, &remote.Swap{Object: object("head", "2"), If: v})
	require.ErrorIs(t, err, remote.ErrChanged)
	commit(t, r, &remote.Swap{Object: object("head", "2"), If: o.Version})
	require.Equal(t, "2", text(t, r, "head"))
	commit(t, r, nil, object("b", "b"))
	require.Equal(t, "b", text(t, r, "b"))
}

// TestPermissions: what is stored is for the user alone.
func TestPermissions(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "Windows has no such modes")
	r := provisioned(t)
	commit(t, r, &remote.Swap{Object: object("head", "0")}, object("a", "a"))
	require.NoError(t, filepath.WalkDir(r.Path(), func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		at, err := d.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		require.Equal(t, want, at.Mode().Perm(), path)
		return nil
	}))
}

// TestOpenWaits opens directories of a file server that does not answer, and of one that fails
// for a moment. Neither is a directory that is refused.
func TestOpenWaits(t *testing.T) {
	t.Parallel()
	r := provisioned(t)
	ctx, cancel := context.WithCancel(t.Context())
	reached, answers, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		<-reached
		cancel()
	}()
	var late *Remote
	_, err := answered(ctx, r.Path(), func() (*Remote, error) {
		close(reached)
		<-answers
		defer close(closed)
		var err error
		late, err = open(r.Path(), nil)
		return late, err
	})
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.ErrorIs(t, err, context.Canceled)
	close(answers)
	<-closed
	require.NoError(t, late.Close())

	for _, failure := range []error{syscall.EIO, syscall.ESTALE} {
		for _, kind := range []seam.Kind{seam.Create, seam.Link} {
			_, err := answered(t.Context(), r.Path(), func() (*Remote, error) {
				return open(r.Path(), &seam.Seam{Before: func(op seam.Op) error {
					if op.Kind == kind || op.Kind == seam.Rename {
						return failure
					}
					return nil
				}})
			})
			require.ErrorIs(t, err, failure)
			require.ErrorIs(t, err, remote.ErrUnreachable)
			require.NotErrorIs(t, err, remote.ErrBlocked)
		}
	}
}
