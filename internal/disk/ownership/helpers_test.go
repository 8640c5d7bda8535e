//go:build unix

package ownership

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const testID = "018c1234-5678-7abc-8def-0123456789ab"

// realTemp is a temporary directory whose path has no symlinks.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// testEnv is an environment of variables and a working directory alone.
func testEnv(vars map[string]string, cwd string) Env {
	return Env{
		Lookup: func(key string) (string, bool) { v, ok := vars[key]; return v, ok },
		Home:   func(string) (string, error) { return "", errors.New("no such user") },
		Getwd:  func() (string, error) { return cwd, nil },
	}
}

// homeEnv is an environment in which only the home directory is set.
func homeEnv(home string) Env {
	return testEnv(map[string]string{"HOME": home}, home)
}

// newSession returns a session of a workspace and a home of its own.
func newSession(t *testing.T, id string) Session {
	t.Helper()
	dir := realTemp(t)
	workspace := filepath.Join(dir, "work space")
	require.NoError(t, os.Mkdir(workspace, 0o755))
	s, err := Locate(homeEnv(dir), Identity{Workspace: workspace, SessionID: id})
	require.NoError(t, err)
	return s
}

func openRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return root
}
