package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed returns the names of the sessions, sorted; nil when the directory is
// gone.
func listed(t *testing.T, b *Sessions) []string {
	t.Helper()
	entries, err := b.Entries(func(string) bool { return true })
	if errors.Is(err, fs.ErrNotExist) {
		require.ErrorContains(t, err, b.path)
		require.Empty(t, entries)
		return nil
	}
	require.NoError(t, err)
	found := []string{}
	for _, e := range entries {
		found = append(found, e.Name)
	}
	slices.Sort(found)
	return found
}

// TestListingIsThatOfNow changes a directory in every way that a listing tells.
func TestListingIsThatOfNow(t *testing.T) {
	t.Parallel()
	steps := []struct {
		name string
		do   func(dir string) error
		want []string
	}{
		{"empty", func(string) error { return nil }, []string{}},
		{"made", func(dir string) error { return os.Mkdir(filepath.Join(dir, "a"), 0o700) }, []string{"a"}},
		{"renamed", func(dir string) error { return os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")) }, []string{"b"}},
		{"a file", func(dir string) error { return os.WriteFile(filepath.Join(dir, "c"), nil, 0o600) }, []string{"b"}},
		{"replaced by a directory", func(dir string) error {
			if err := os.Remove(filepath.Join(dir, "c")); err != nil {
				return err
			}
			return os.Mkdir(filepath.Join(dir, "c"), 0o700)
		}, []string{"b", "c"}},
		{"moved away", func(dir string) error { return os.Rename(filepath.Join(dir, "b"), dir+"-away") }, []string{"c"}},
		{"the whole directory anew", func(dir string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return os.MkdirAll(filepath.Join(dir, "d"), 0o700)
		}, []string{"d"}},
		{"its time put back", func(dir string) error {
			fi, err := os.Stat(dir)
			if err == nil {
				err = os.Mkdir(filepath.Join(dir, "e"), 0o700)
			}
			if err == nil {
				err = os.Chtimes(dir, fi.ModTime(), fi.ModTime())
			}
			return err
		}, []string{"d", "e"}},
		{"gone", os.RemoveAll, nil},
	}
	dir := filepath.Join(t.TempDir(), "sessions")
	b := open(t, dir, nil)
	for _, step := range steps {
		require.NoError(t, step.do(dir), step.name)
		require.Equal(t, step.want, listed(t, b), step.name)
	}
}

// isLocalAt reports whether dir is on a file system whose stamps tell of every change.
func isLocalAt(t *testing.T, dir string) bool {
	t.Helper()
	f, err := os.Open(dir)
	require.NoError(t, err)
	defer f.Close()
	return IsLocal(f)
}
