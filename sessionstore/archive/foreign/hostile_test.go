package foreign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
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

// TestHostileIDs imports histories whose ids and sub-agents' names are no names on every system: the
// ids of the sessions are.
func TestHostileIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"-rf", "--help", ".git", "../../h", "con\nnl", "CON", "a\x00b", "y;touch pwned;", strings.Repeat("a", 300)} {
		for _, tool := range Tools() {
			require.Empty(t, sessiondir.Foreign(idOf(tool, id)), "%q", id)
		}
		require.Empty(t, sessiondir.Foreign(thread.SubID("claude", id, id)), "%q", id)
		p := openProjects(t)
		path := filepath.Join(t.TempDir(), "h.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(many("g", 1)), 0o600))
		report, err := Import(t.Context(), p, History{Tool: Claude, ID: id, Path: path, Folder: "-folder"}, nil)
		require.NoError(t, err)
		for _, s := range report.Sessions {
			require.Empty(t, sessiondir.Foreign(s.ID), "%q", id)
		}
	}
}
