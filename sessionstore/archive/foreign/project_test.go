package foreign

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestProjectOfDirectory names the project of a directory, however a tool writes it.
func TestProjectOfDirectory(t *testing.T) {
	t.Parallel()
	for want, dirs := range map[string][]string{
		"-C-Users-ana-app": {
			`C:\Users\ana\app`, `c:\Users\ana\app`, `C:\Users\ana\app\`, `\\?\C:\Users\ana\app`, `\\?\c:\Users\ana\app\`, `\\.\C:\Users\ana\app`,
			`C:/Users/ana/app`, `c:/Users/ana/app/`, `C:\Users/ana\app`, `C:\\Users\\ana\\app`, `C:\Users\ana\.\app`, `C:\Users\ana\x\..\app`,
			`//?/C:/Users/ana/app`, `\??\C:\Users\ana\app`,
		},
		"-C-Users-Ana-App":      {`C:\Users\Ana\App`, `c:\Users\Ana\App`},
		"-D-":                   {`D:\`, `d:\`, `d:/`, `\\?\D:\`},
		"--server-share-app":    {`\\server\share\app`, `\\server\share\app\`, `//server/share/app`, `\\?\UNC\server\share\app`, `\\?\unc\server\share\x\..\app`},
		"-home-ana-app":         {"/home/ana/app", "/home/ana/app/", "/home/ana/./app", "/home/ana//app", "/home/ana/x/../app"},
		`-home-ana-a-b`:         {`/home/ana/a\b`},
		"-home-ana-C-x":         {`/home/ana/C:\x`},
		"-mnt-c-Users-ana-app":  {"/mnt/c/Users/ana/app"},
		"-home-ana-it is here.": {"/home/ana/it is here."},
		"-C-x-?":                {`\\?\C:\x\?`},
		"-folder":               {"", "/", "/.", "/x/.."},
	} {
		for _, dir := range dirs {
			require.Equal(t, want, History{Tool: Claude, Dir: dir, Folder: "-folder"}.Project(), dir)
		}
	}
	for _, dir := range []string{"/home/ana/app", "/a-b/c", "/a/b c", "/a/b.c", "//a/b"} { // these names stay
		require.Equal(t, sessionstore.ProjectSlug(dir), History{Dir: dir}.Project(), dir)
	}
	here, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.Equal(t, sessionstore.ProjectSlug(here), History{Dir: here + string(filepath.Separator)}.Project())
}

// TestProjectStays has a session that an earlier import put into a project by the directory
// as the tool wrote it: it stays there.
func TestProjectStays(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(many("g", 1))
	h := History{Tool: Claude, ID: "g", Path: g.path, Dir: `c:\app\`}
	_, err := Import(t.Context(), g.p, h, &Options{Project: "-c-app-"})
	require.NoError(t, err)
	report, err := Import(t.Context(), g.p, h, nil)
	require.NoError(t, err)
	require.Equal(t, "-c-app-", report.Project)
	require.Equal(t, Unchanged, report.Sessions[0].Action)
}
