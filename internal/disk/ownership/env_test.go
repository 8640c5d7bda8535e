//go:build unix

package ownership

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	homes := map[string]string{"": "/home/db", "bob": "/home/bob/", "rel": "~x"}
	env := func(vars map[string]string) Env {
		e := testEnv(vars, "/cwd")
		e.Home = func(name string) (string, error) {
			if home, ok := homes[name]; ok {
				return home, nil
			}
			return "", errors.New("no such user")
		}
		return e
	}
	withHome := func(home string) map[string]string { return map[string]string{"HOME": home} }
	tests := []struct {
		name, path, want string
		vars             map[string]string
	}{
		{"home of the variable", "~/a", "/h/a", withHome("/h")},
		{"home with slashes", "~", "/h", withHome("/h//")},
		{"empty home is the root", "~/a", "/a", withHome("")},
		{"unset home is the database's", "~/a", "/home/db/a", nil},
		{"relative home", "~/a", "h/a", withHome("h")},
		{"other user", "~bob/a", "/home/bob/a", withHome("/h")},
		{"only at the start", "a/~", "a/~", withHome("/h")},
		{"dot before it", "./~/a", "/h/a", withHome("/h")},
		{"three slashes", "///a", "/a", nil},
		{"two slashes", "//a", "//a", nil},
		{"nothing", "", ".", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := env(tt.vars).expand(tt.path)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	for _, bad := range []string{"~nobody", "~rel/x"} {
		_, err := env(nil).expand(bad)
		require.ErrorIs(t, err, ErrInvalid, bad)
		require.EqualError(t, err, "could not determine home directory", bad)
	}
}

// TestResolve resolves paths as Python's Path.resolve did in the same tree: also those that
// lead to nothing, where the longest part that exists and the rest would not do.
func TestResolve(t *testing.T) {
	t.Parallel()
	dir := realTemp(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for name, to := range map[string]string{
		"dangling": "gone/x", "on": "dangling/..", "up": "a/b/../..", "a/c": "../a//b/.", "full": dir + "/a/c", "loop": "loop/x", "beyond": "file/y",
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	for path, want := range map[string]struct{ any, strict string }{ // "": an error
		"a/c":              {"/a/b", "/a/b"},
		"full/../c":        {"/a/b", "/a/b"},
		"up/up/a":          {"/a", "/a"},
		"dangling":         {"/gone/x", ""},
		"dangling/../../a": {"/a", ""},
		"on/z":             {"/gone/z", ""},
		"gone/../full":     {"/a/b", ""},
		"file/z/../../a":   {"/a", ""},
		"file/../full":     {"/a/b", "/a/b"},
		"beyond":           {"/file/y", ""},
		"loop":             {"", ""},
	} {
		for strict, want := range map[bool]string{false: want.any, true: want.strict} {
			got, err := testEnv(nil, "/").resolve(dir+"/"+path, strict)
			require.Equal(t, want == "", err != nil, "%s %t: %v", path, strict, err)
			if want != "" {
				require.Equal(t, dir+want, got, "%s %t", path, strict)
			}
		}
	}
}

func TestSystemEnv(t *testing.T) {
	dir := realTemp(t)
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	if err := os.Symlink("real", link); err != nil {
		t.Logf("no symlinks here: %v", err)
		return
	}
	t.Chdir(link)
	got, err := System().Getwd()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "real"), got)
}

func TestRetainedWorkspace(t *testing.T) {
	t.Parallel()
	dir := realTemp(t)
	env := homeEnv(dir)
	at := func(name string) Identity { return Identity{Workspace: filepath.Join(dir, name), SessionID: testID} }
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for _, ok := range []string{"real", "gone/deep", "file/below"} {
		_, err := LocateRetained(env, at(ok))
		require.NoError(t, err, ok)
	}
	const moved = "retained workspace must remain a canonical directory address"
	for name, want := range map[string]string{
		"link": moved, "link/gone": moved, "file": moved,
		"loop":  "retained workspace is not a resolvable canonical address",
		"a\x00": "retained workspace must be a bounded canonical absolute path",
		"\xff":  "workspace must be valid UTF-8",
	} {
		_, err := LocateRetained(env, at(name))
		require.ErrorIs(t, err, ErrInvalid, name)
		require.EqualError(t, err, want, name)
	}
	_, err := LocateRetained(env, Identity{Workspace: dir + "/real/../real", SessionID: testID})
	require.EqualError(t, err, moved)
}

func TestValidID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"a": true, "A-9": true, "0-": true, strings.Repeat("a", 128): true,
		"": false, "-a": false, strings.Repeat("a", 129): false, "a_b": false, "a/b": false, "\u00e9": false, "a\xff": false,
	} {
		require.Equal(t, want, ValidID(id), "%q", id)
	}
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	stat := "12 (a) b (c) S 1 12 12 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 345 1 2"
	got, ok := parseStat(stat)
	require.True(t, ok)
	require.Equal(t, procStat{state: "S", started: "345"}, got)
	for _, bad := range []string{"", ")", "12 (a) S 1", "no parenthesis 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21"} {
		_, ok := parseStat(bad)
		require.False(t, ok, bad)
	}
}
