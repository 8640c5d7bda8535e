package foreign

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// mark is a byte order mark, which editors and copies put before a file.
const mark = "\ufeff"

// marked copies a folder of a tool, and puts a byte order mark before each file.
func marked(t *testing.T, from string, pack bool) (to string) {
	t.Helper()
	to = t.TempDir()
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
	require.NoError(t, filepath.WalkDir(to, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, ".zst") {
			return err
		}
		text := []byte(mark + original(t, path))
		if pack && strings.HasPrefix(e.Name(), "rollout-") {
			require.NoError(t, os.Remove(path))
			z, err := zstd.NewWriter(nil)
			require.NoError(t, err)
			text, path = z.EncodeAll(text, nil), path+".zst"
		}
		return os.WriteFile(path, text, 0o600)
	}))
	return to
}

// words returns what the sessions say that an import of a folder makes, by project and id.
func words(t *testing.T, tool Tool, home string) map[string]string {
	t.Helper()
	p, all := openProjects(t), map[string]string{}
	found, err := Find(t.Context(), tool, &FindOptions{Home: home})
	require.NoError(t, err)
	for _, h := range found {
		report, err := Import(t.Context(), p, h, nil)
		if err != nil {
			require.ErrorIs(t, err, ErrEmpty)
			continue
		}
		st, err := p.Store(report.Project)
		require.NoError(t, err)
		for _, s := range report.Sessions {
			md, err := st.Metadata(t.Context(), s.ID)
			require.NoError(t, err)
			said := fmt.Sprintln(md.Text("name"), md.Text("parent_id"))
			for m, err := range st.Messages(t.Context(), s.ID) {
				require.NoError(t, err)
				said += fmt.Sprintln(m.Role(), m.Content())
			}
			all[report.Project+"/"+s.ID] = said
		}
	}
	return all
}

// TestByteOrderMark imports the histories of both tools with a byte order mark before each
// file: the sessions are the same, in the same projects.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	for home, tool := range map[string]Tool{"testdata/claude": Claude, "testdata/codex": Codex, "testdata/live/codex": Codex} {
		want := words(t, tool, home)
		require.NotEmpty(t, want)
		for _, pack := range []bool{false, true} {
			require.Equal(t, want, words(t, tool, marked(t, home, pack)), "%s %t", tool, pack)
		}
	}
}

// TestMarkAddedLater has a file that gets a byte order mark, and goes on: the session goes
// on, too, and is exported with the bytes that the file had.
func TestMarkAddedLater(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(many("g", 2))
	id := g.run(nil)[0].ID
	g.write(mark + many("g", 2))
	require.Equal(t, []Imported{{id, Conversation, Unchanged, 0}}, g.run(nil))
	g.write(mark + many("g", 3))
	require.Equal(t, []Imported{{id, Conversation, Updated, 6}}, g.run(nil))
	require.Equal(t, mark+many("g", 3), exported(t, g.st, id, Claude))
	g.write(mark)
	require.Equal(t, []Imported{{id, Conversation, Unchanged, 0}}, g.run(nil))
	report, err := Import(t.Context(), openProjects(t), History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
	require.ErrorIs(t, err, ErrEmpty)
	require.Empty(t, report.Damaged)

	var b bytes.Buffer // the export of a session that came with a mark goes on in the tool and comes home
	require.NoError(t, g.st.Create(t.Context(), "ours", sessionstore.Metadata{}))
	g.say("ours", "asked", "answered")
	done, err := Export(t.Context(), g.st, "ours", Claude, &b, nil)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), done.File)
	require.NoError(t, os.WriteFile(path, append([]byte(mark), b.Bytes()...), 0o600))
	report, err = Import(t.Context(), g.p, History{Tool: Claude, ID: done.ID, Path: path, Dir: "/w"}, nil)
	require.NoError(t, err)
	require.Equal(t, []Imported{{"ours", Conversation, Unchanged, 2}}, report.Sessions)
}
