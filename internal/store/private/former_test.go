package private_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/store/private"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestAnotherSessionOfTheParentsID deletes a parent that a glob keeps, and makes another session
// of its id: the child of the deleted one stays, the other session and its child do not.
func TestAnotherSessionOfTheParentsID(t *testing.T) {
	t.Parallel()
	const first, second = `"created": "2026-11-01T10:00:00+00:00"`, `"created": "2026-11-02T10:00:00+00:00"`
	g, _ := guard(t, []string{"*draft*"}, map[string]string{
		"p/metadata.json":        `{"name": "my draft", ` + first + `}`,
		"kid/metadata.json":      `{"parent_id": "p"}`,
		"grandkid/metadata.json": `{"parent_id": "kid"}`,
	})
	kept := func(id string) bool { return g.Judge(t.Context(), id).Kept }
	put := func(id, metadata string) {
		require.NoError(t, os.MkdirAll(filepath.Join(g.Dir, id), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(g.Dir, id, "metadata.json"), []byte(metadata), 0o600))
	}
	lost := testenv.Lost(t)
	for _, id := range []string{"p", "kid", "grandkid"} {
		require.True(lost, kept(id), id)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(g.Dir, "p")))
	require.True(lost, kept("kid"))
	put("p", `{"name": "letter", `+second+`}`)
	put("kid2", `{"parent_id": "p", `+second+`}`)
	put("late", `{"parent_id": "p", "created": "2026-11-01T23:00:00-01:00"}`) // nobody judged it while its parent was there
	put("later", `{"parent_id": "p", "created": "2026-11-02T12:00:00+01:00"}`)
	for range 2 {
		require.False(t, kept("p"))
		require.False(t, kept("kid2"))
		require.True(lost, kept("late"))
		require.False(t, kept("later"))
		require.True(lost, kept("kid"))
		require.True(lost, kept("grandkid"))
	}
	require.NoError(t, g.Book.Release("kid"))
	require.False(t, kept("kid"))

	put("kid3", `{"parent_id": "p"}`)
	put("p", `{"name": "draft again", `+second+`}`)
	require.True(lost, kept("kid3"))
	put("p", `{"name": "letter", `+second+`}`)
	require.False(t, kept("kid3"), "the same session has another name")
	put("p", `{"name": "draft again"}`)
	require.True(lost, kept("kid3"))
	put("p", `{"name": "letter", `+second+`}`)
	require.False(t, kept("kid3"), "it is not known which session it was")
}

// TestLastOfTwoNames: of two fields of a name Python reads the last, and so do the rules.
func TestLastOfTwoNames(t *testing.T) {
	t.Parallel()
	for metadata, want := range map[string]bool{
		`{"name": "my draft", "name": "letter"}`:                                         false,
		`{"name": "letter", "name": "my draft"}`:                                         true,
		`{"name": "letter", "n\u0061me": "my draft"}`:                                    true,
		`{"parent_id": "kept", "parent_id": "open"}`:                                     false,
		`{"parent_id": "open", "parent_id": "kept"}`:                                     true,
		`{"fork": {"source_session_id": "kept"}, "fork": {"source_session_id": "open"}}`: false,
		`{"session_id": "s", "session_id": "kept"}`:                                      true,
	} {
		var md map[string]any
		require.NoError(t, json.Unmarshal([]byte(metadata), &md)) // takes the last, too
		g, _ := guard(t, []string{"*draft*"}, map[string]string{"s/metadata.json": metadata, "kept/metadata.json": `{"name": "draft"}`, "open/metadata.json": `{}`})
		require.Equal(testenv.Lost(t), want, g.Judge(t.Context(), "s").Kept, metadata)
	}
}

// TestVerdictThatIsADirectory: what is remembered of a session and cannot be read holds the session
// back, and Release ends that.
func TestVerdictThatIsADirectory(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(t *testing.T, path string){
		"directory":            func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) },
		"directory with files": func(t *testing.T, path string) { require.NoError(t, os.MkdirAll(filepath.Join(path, "x", "y"), 0o700)) },
		"torn":                 func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte(`{"v":`), 0o600)) },
		"empty":                func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, nil, 0o600)) },
		"newer": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(`{"v":2,"session_id":"s"}`), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, _ := guard(t, []string{"*draft*"}, map[string]string{"s/metadata.json": `{"name": "my draft", "parent_id": "p"}`, "p/metadata.json": `{}`})
			require.True(t, g.Judge(t.Context(), "s").Kept)
			all, err := filepath.Glob(filepath.Join(g.Dir, ".sessionstore", private.Folder, "verdict-*"))
			require.NoError(t, err)
			path := ""
			for _, at := range all {
				text, err := os.ReadFile(at)
				require.NoError(t, err)
				if bytes.Contains(text, []byte(`"session_id":"s"`)) {
					path = at
				}
			}
			require.NoError(t, os.Remove(path))
			breakIt(t, path)
			require.NoError(t, os.WriteFile(filepath.Join(g.Dir, "s", "metadata.json"), []byte(`{"name": "letter", "parent_id": "p"}`), 0o600))
			held := g.Judge(t.Context(), "s")
			if held.Held != nil {
				require.ErrorIs(t, held.Held, private.ErrHeld)
				require.ErrorContains(t, held.Held, "keep-local --release")
			}
			require.NoError(t, g.Book.Release("s"))
			after := g.Judge(t.Context(), "s")
			require.NoError(t, after.Held)
			require.False(t, after.Kept)
		})
	}
}

// TestRenamedIsNotHeld: a session in a directory of another name has the id that it had before,
// which nobody knows. It leaves, where the same id as that of a parent would hold it back.
func TestRenamedIsNotHeld(t *testing.T) {
	t.Parallel()
	g, _ := guard(t, []string{"*draft*"}, map[string]string{
		"renamed/metadata.json": `{"session_id": "before", "name": "letter"}`, "child/metadata.json": `{"parent_id": "before"}`,
	})
	require.Empty(t, g.Judge(t.Context(), "renamed"))
	require.Equal(t, []string{"before"}, g.Judge(t.Context(), "child").Unknown)
}

// TestRulesThatAreADirectory: where a file of the rules is a directory, the reason names its path and
// what ends that.
func TestRulesThatAreADirectory(t *testing.T) {
	t.Parallel()
	for _, file := range []string{private.LocalOnlyFile, private.GlobsFile, private.RedactionFile} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			g, _ := guard(t, nil, map[string]string{"s/metadata.json": `{}`})
			path := filepath.Join(g.Dir, ".sessionstore", private.Folder, file)
			require.NoError(t, os.MkdirAll(filepath.Join(path, "x"), 0o700))
			_, err := g.Book.Rules().Redaction()
			if file != private.RedactionFile {
				err = g.Book.Rules().Err()
				require.True(testenv.Lost(t), g.Judge(t.Context(), "s").Kept)
			}
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, "bring it back from a backup, or ")
			require.NoError(t, os.RemoveAll(path))
			require.NoError(t, g.Book.Rules().Err())
		})
	}
}
