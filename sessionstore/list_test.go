package sessionstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// sessions makes empty session directories, the first one modified last.
func sessions(t testing.TB, dir string, names ...string) {
	t.Helper()
	for i, name := range names {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
		age(t, dir, name, noon.Add(-time.Duration(i)*time.Minute))
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, "a file is no session", dir, "file")
	sessions(t, dir, "b", "0-1_agent", "a", "c", "z_fork", ".hidden", "d")
	if runtime.GOOS != "windows" {
		symlink(t, "nowhere", dir, "broken")
	}
	tests := []struct {
		name string
		opts *sessionstore.ListOptions
		want []string
	}{
		{"nil", nil, []string{"b", "a", "c", "d"}},
		{"all", &sessionstore.ListOptions{All: true}, []string{"b", "0-1_agent", "a", "c", "z_fork", "d"}},
		{"limit", &sessionstore.ListOptions{Limit: 2}, []string{"b", "a"}},
		{"all, limit", &sessionstore.ListOptions{All: true, Limit: 2}, []string{"b", "0-1_agent"}},
		{"limit beyond", &sessionstore.ListOptions{Limit: 100}, []string{"b", "a", "c", "d"}},
		{"no limit", &sessionstore.ListOptions{Limit: -1}, []string{"b", "a", "c", "d"}},
	}
	st := open(t, dir, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			infos, err := st.List(t.Context(), tt.opts)
			require.NoError(t, err)
			require.Equal(t, tt.want, ids(infos))
			require.True(t, noon.Equal(infos[0].Modified))
		})
	}
}

func TestListFollowsSymlinksToDirectories(t *testing.T) {
	t.Parallel()
	dir, victim, unchanged := outside(t)
	symlink(t, victim, dir, "linked")
	st := open(t, dir, nil)
	infos, err := st.List(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"linked"}, ids(infos))
	require.True(t, st.Exists("linked"))
	unchanged()
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sessions(t, dir, "abc-111111111111", "abc-222", "abc-333", "abc-444", "abcd", "x", "xy", "sub_1", "sub_2", ".hid", " odd")
	all := &sessionstore.ListOptions{All: true}
	tests := []struct {
		name, prefix string
		opts         *sessionstore.ListOptions
		want, err    string
	}{
		{"prefix", "abc-2", nil, "abc-222", ""},
		{"space is ignored", " \u3000abc-2\n", nil, "abc-222", ""},
		{"exact wins", "x", nil, "x", ""},
		{"hidden, exact", ".hid", nil, ".hid", ""},
		{"hidden, prefix", ".hi", nil, "", "No session found matching '.hi'"},
		{"sub-session", "sub_1", nil, "", "No session found matching 'sub_1'"},
		{"sub-session, all", "sub_1", all, "sub_1", ""},
		{"case matters", "ABC-2", nil, "", "No session found matching 'ABC-2'"},
		{"with a slash", "abc/../x", nil, "", "No session found matching 'abc/../x'"},
		{"empty", "", nil, "", "Session ID cannot be empty"},
		{"only space", " \t", nil, "", "Session ID cannot be empty"},
		{"none", "q", nil, "", "No session found matching 'q'"},
		{"two", "sub", all, "", "Ambiguous session ID 'sub' matches 2 sessions: sub_1..., sub_2..."},
		{"many", "abc", nil, "", "Ambiguous session ID 'abc' matches 5 sessions: abc-11111111..., abc-222..., abc-333... and 2 more"},
	}
	st := open(t, dir, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := st.Find(t.Context(), tt.prefix, tt.opts)
			if tt.err != "" {
				require.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	_, err := st.Find(t.Context(), "abc", nil)
	var ambiguous *sessionstore.AmbiguousError
	require.ErrorAs(t, err, &ambiguous)
	require.Equal(t, []string{"abc-111111111111", "abc-222", "abc-333", "abc-444", "abcd"}, ambiguous.Matches)
	_, err = st.Find(t.Context(), "q", nil)
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = st.Find(t.Context(), "", nil)
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)
}

func TestCleanup(t *testing.T) {
	t.Parallel()
	now := noon
	dir := t.TempDir()
	st := open(t, dir, &sessionstore.Options{Now: func() time.Time { return now }})
	for name, days := range map[string]int{"new": 0, "young": 29, "old": 31, "older_sub": 400, ".hidden": 400} {
		write(t, user("hi")+"\n", dir, name, transcriptFile)
		age(t, dir, name, now.AddDate(0, 0, -days))
	}
	write(t, "a file stays", dir, "file")
	n, err := st.Cleanup(t.Context(), sessionstore.DefaultCleanupDays)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	infos, err := st.List(t.Context(), &sessionstore.ListOptions{All: true})
	require.NoError(t, err)
	require.Equal(t, []string{"new", "young"}, ids(infos))
	require.DirExists(t, filepath.Join(dir, ".hidden"))
	require.FileExists(t, filepath.Join(dir, "file"))

	n, err = st.Cleanup(t.Context(), sessionstore.DefaultCleanupDays)
	require.NoError(t, err)
	require.Zero(t, n)
	for days, want := range map[int]string{-1: "days must be non-negative", 1_000_000: "date value out of range"} {
		_, err := st.Cleanup(t.Context(), days)
		require.EqualError(t, err, want)
		require.NotErrorIs(t, err, errors.ErrUnsupported)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var changes []sessionstore.Change
	st := open(t, dir, &sessionstore.Options{OnChange: func(c sessionstore.Change) { changes = append(changes, c) }})
	for i := range 3 {
		id := fmt.Sprint("s", i)
		write(t, user("hi")+"\n", dir, id, transcriptFile)
		write(t, "deep", dir, id, "sub", "sub", "file")
	}
	require.NoError(t, st.Delete(t.Context(), "s1"))
	require.Equal(t, []sessionstore.Change{{ID: "s1", Op: sessionstore.Removed}}, changes)
	require.False(t, st.Exists("s1"))
	require.ErrorIs(t, st.Delete(t.Context(), "s1"), sessionstore.ErrNotFound)
	require.NoError(t, st.Save(t.Context(), "s1", parse(t, user("again")), sessionstore.Metadata{}))
	s, err := st.Load(t.Context(), "s1")
	require.NoError(t, err)
	require.Equal(t, []string{user("again")}, lines(s.Messages))

	var left int
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "file" {
			left++
		}
		return err
	}))
	require.Equal(t, 2, left, "nothing of it stays, not in the bookkeeping either")
}
