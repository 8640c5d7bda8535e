package foreign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHostileDirectories has working directories that are no names of a project: the
// history comes into that of the tool's folder.
func TestHostileDirectories(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{
		"/home/ana":                    "-home-ana",
		`C:\Users\ana`:                 "-C-Users-ana",
		"../../etc":                    "-..-..-etc",
		"":                             "-folder",
		"/a\x1b]0;x\a":                 "-folder",
		"/a\x00b":                      "-folder",
		"/a\u202eb":                    "-folder",
		"/a\xff":                       "-folder",
		"/" + strings.Repeat("a", 300): "-folder",
	} {
		require.Equal(t, want, History{Dir: dir, Folder: "-folder"}.Project(), dir)
		require.Equal(t, strings.Replace(want, "-folder", "-imported", 1), History{Dir: dir, Folder: "../x"}.Project(), dir)
	}
	p := openProjects(t)
	path := filepath.Join(t.TempDir(), "h.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(many("g", 1)), 0o600))
	h := History{Tool: Claude, ID: "../../h", Path: path, Dir: "/" + strings.Repeat("a", 300), Folder: "-folder"}
	report, err := Import(t.Context(), p, h, nil)
	require.NoError(t, err)
	require.Equal(t, "-folder", report.Project)
	require.Equal(t, idOf(Claude, h.ID), report.Sessions[0].ID)
}
