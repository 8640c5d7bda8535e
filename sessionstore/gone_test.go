package sessionstore_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// goneWays are how a sessions directory goes away while a store has it open.
var goneWays = []struct {
	name string
	do   func(dir string) error
}{
	{"moved", func(dir string) error { return os.Rename(dir, dir+"-moved") }},
	{"removed", os.RemoveAll},
	{"its project moved", func(dir string) error { return os.Rename(filepath.Dir(dir), filepath.Dir(dir)+"-moved") }},
	{"its project removed", func(dir string) error { return os.RemoveAll(filepath.Dir(dir)) }},
	{"a symlink to nothing", func(dir string) error {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		return os.Symlink(dir+"-nowhere", dir)
	}},
}

// inGoneWays runs test on a store of one session, whose directory goes away when
// test says so, before anything was listed and after.
func inGoneWays(t *testing.T, test func(t *testing.T, st *sessionstore.Store, goes func())) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("an open directory can be neither moved nor removed")
	}
	for _, way := range goneWays {
		for name, lists := range map[string]int{"first call": 0, "after a list": 1, "after three lists": 3} {
			t.Run(way.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				st := open(t, filepath.Join(t.TempDir(), "project", "sessions"), nil)
				require.NoError(t, st.Append(t.Context(), "one", parse(t, user("1"))...))
				for range lists {
					infos, err := st.List(t.Context(), nil)
					require.NoError(t, err)
					require.Equal(t, []string{"one"}, ids(infos))
				}
				test(t, st, func() { require.NoError(t, way.do(st.Dir())) })
			})
		}
	}
}

// TestGoneDirectory asks a store whose directory is gone for sessions: it must
// not say that there are none.
func TestGoneDirectory(t *testing.T) {
	t.Parallel()
	inGoneWays(t, func(t *testing.T, st *sessionstore.Store, goes func()) {
		goes()
		for range 2 {
			for _, opts := range []*sessionstore.ListOptions{nil, {All: true}, {Limit: 1}} {
				infos, err := st.List(t.Context(), opts)
				requireGone(t, st, err)
				require.Empty(t, infos)
			}
			for _, prefix := range []string{"one", "o", "other"} {
				id, err := st.Find(t.Context(), prefix, nil)
				requireGone(t, st, err)
				require.Empty(t, id)
			}
			require.False(t, st.Exists("one"))
			_, err := st.Load(t.Context(), "one")
			require.ErrorIs(t, err, sessionstore.ErrNotFound)
			removed, err := st.Cleanup(t.Context(), 0)
			require.NoError(t, err)
			require.Zero(t, removed)
		}
	})
}

func requireGone(t *testing.T, st *sessionstore.Store, err error) {
	t.Helper()
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	require.ErrorContains(t, err, "sessions directory "+st.Dir()+" was moved or removed")
}

// TestGoneDirectoryComesBack makes the directory anew, by the store itself and
// by another program: it is as good as the one before.
func TestGoneDirectoryComesBack(t *testing.T) {
	t.Parallel()
	inGoneWays(t, func(t *testing.T, st *sessionstore.Store, goes func()) {
		goes()
		if _, err := os.Lstat(st.Dir()); err == nil {
			require.NoError(t, os.Remove(st.Dir())) // the symlink to nothing
		}
		require.NoError(t, st.Append(t.Context(), "two", parse(t, user("2"))...))
		infos, err := st.List(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, []string{"two"}, ids(infos))
		goes = func() { require.NoError(t, os.RemoveAll(st.Dir())) }
		goes()
		_, err = st.List(t.Context(), nil)
		requireGone(t, st, err)
		require.NoError(t, os.MkdirAll(st.Dir(), 0o700))
		infos, err = st.List(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, infos)
	})
}

// TestOpenMakesDirectory opens directories that never existed.
func TestOpenMakesDirectory(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"sessions", filepath.Join("a", "b", "sessions")} {
		st := open(t, filepath.Join(t.TempDir(), path), nil)
		infos, err := st.List(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, infos)
		_, err = st.Find(t.Context(), "x", nil)
		require.EqualError(t, err, "No session found matching 'x'")
	}
}

// TestGoneProject searches projects of which one goes away, before the search
// and in the middle of it. The others are found, without an error.
func TestGoneProject(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open directory can be neither moved nor removed")
	}
	dir := t.TempDir()
	p, err := projects.Open(dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	for _, slug := range []string{"a", "b", "c"} {
		st, err := p.Store(slug)
		require.NoError(t, err)
		require.NoError(t, st.Append(t.Context(), "one-"+slug, parse(t, user("1"))...))
	}
	find := func(q projects.Query) (names []string) {
		t.Helper()
		found, err := p.Find(t.Context(), q)
		require.NoError(t, err)
		for _, f := range found {
			names = append(names, f.Project)
		}
		return names
	}
	require.ElementsMatch(t, []string{"a", "b", "c"}, find(projects.Query{}))

	gone := filepath.Join(dir, "b")
	removing := func(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
		if err := os.RemoveAll(gone); err != nil {
			return false, err
		}
		_, err := st.Load(ctx, id)
		return err == nil, err
	}
	require.ElementsMatch(t, []string{"a", "c"}, find(projects.Query{Match: removing}))
	require.NoDirExists(t, gone, "the search made it anew")
	for _, q := range []projects.Query{{}, {Keyword: "user"}, {Project: "b"}} {
		want := []string{"a", "c"}
		if q.Project != "" {
			want = nil
		}
		require.ElementsMatch(t, want, find(q))
	}
	_, err = p.Resolve(t.Context(), "one-b", "")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	path, err := p.Resolve(t.Context(), "one-c", "")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "c", "sessions", "one-c"), path)
	st, err := p.Store("b")
	require.NoError(t, err)
	_, err = st.List(t.Context(), nil)
	requireGone(t, st, err)
}
