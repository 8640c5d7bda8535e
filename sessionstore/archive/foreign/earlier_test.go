package foreign

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFoldersOfEarlierVersion imports a session in two folders again that an earlier version
// made of both files: nothing changes, and what only the shorter file has stays in its fork.
func TestFoldersOfEarlierVersion(t *testing.T) {
	t.Parallel()
	p, earlier := openProjects(t), filepath.Join("testdata", "earlier", "folders")
	require.NoError(t, os.CopyFS(p.Dir(), os.DirFS(filepath.Join(earlier, "store"))))
	before := tree(t, p.Dir())
	all, err := Find(t.Context(), Claude, &FindOptions{Home: filepath.Join(earlier, "home")})
	require.NoError(t, err)
	require.Len(t, all, 1)
	report, err := Import(t.Context(), p, all[0], nil)
	require.NoError(t, err)
	require.Len(t, report.Shorter, 1)
	for _, s := range report.Sessions {
		require.Equal(t, Unchanged, s.Action, s)
	}
	require.Equal(t, before, tree(t, p.Dir()))
}
