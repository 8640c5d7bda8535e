package private_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// here are the sessions of a directory, and how often one was read.
type here struct {
	*sessiondir.Base
	reads int
}

func (h *here) Read(_ context.Context, id string, do func(*sessiondir.Dir) error) error {
	h.reads++
	dir, err := h.Dir(id)
	if err != nil {
		return err
	}
	return errors.Join(do(dir), dir.Close())
}

// guard returns a guard of a directory with the metadata of some sessions, and of files beside
// them by their paths.
func guard(t *testing.T, globs []string, files map[string]string) (*private.Guard, *here) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions")
	for path, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600))
	}
	base, err := sessiondir.Open(dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, base.Close()) })
	h := &here{Base: base}
	book := private.NewBook(dir, private.Opened(func() (*vfs.Dir, error) { return base.Kept(private.Folder) }))
	return &private.Guard{Dir: dir, Sessions: h, Book: book, Private: globs}, h
}

// TestBackupKeeps judges sessions for the first time after another tool lost a part of their
// metadata, which the backup still has.
func TestBackupKeeps(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"name":              {"s/metadata.json": `{}`, "s/metadata.json.backup": `{"name": "my draft"}`},
		"name that is null": {"s/metadata.json": `{"name": null}`, "s/metadata.json.backup": `{"name": "my draft"}`},
		"no metadata":       {"s/metadata.json.backup": `{"name": "my draft"}`},
		"parent":            {"s/metadata.json": `{"name": "s"}`, "s/metadata.json.backup": `{"parent_id": "kept"}`},
		"fork":              {"s/metadata.json": `{"name": "s"}`, "s/metadata.json.backup": `{"fork": {"source_session_id": "kept"}}`},
		"copied":            {"s/metadata.json": `{}`, "s/metadata.json.backup": `{"session_id": "kept"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files = maps.Clone(files)
			files["kept/metadata.json"] = `{"name": "draft of all"}`
			g, _ := guard(t, []string{"*draft*"}, files)
			require.True(testenv.Lost(t), g.Judge(t.Context(), "s").Kept)
		})
	}
	g, _ := guard(t, []string{"*draft*"}, map[string]string{"s/metadata.json": `{"name": "my dra`, "s/metadata.json.backup": `{"name": "letter"}`})
	require.ErrorIs(testenv.Lost(t), g.Judge(t.Context(), "s").Held, private.ErrHeld, "a backup is older: its name proves nothing")
	g, _ = guard(t, nil, map[string]string{"s/metadata.json": `{"name": "my dra`, "s/metadata.json.backup": `{"name": "letter"}`})
	require.NoError(t, g.Judge(t.Context(), "s").Held, "there are no rules")
	g, _ = guard(t, []string{"*draft*"}, map[string]string{"s/metadata.json": `{"name": "letter", "parent_id": "new"}`, "s/metadata.json.backup": `{"name": "draft", "parent_id": "kept"}`, "kept/metadata.json": `{"name": "draft"}`, "new/metadata.json": `{}`})
	require.False(t, g.Judge(t.Context(), "s").Kept, "what the metadata say counts")
}

// TestManyPathsToOneAncestor judges a session with many lines of descent: each ancestor is read
// once.
func TestManyPathsToOneAncestor(t *testing.T) {
	t.Parallel()
	const layers = 40
	files := map[string]string{"0-a/metadata.json": `{}`, "0-b/metadata.json": `{"name": "draft"}`}
	for n := 1; n <= layers; n++ {
		for _, twin := range []string{"a", "b"} {
			files[fmt.Sprintf("%d-%s/metadata.json", n, twin)] = fmt.Sprintf(`{"parent_id": "%d-a", "parent_session_id": "%d-b"}`, n-1, n-1)
		}
	}
	g, h := guard(t, []string{"draft"}, files)
	require.True(t, g.Judge(t.Context(), fmt.Sprint(layers, "-a")).Kept)
	require.LessOrEqual(t, h.reads, 2*layers+2)
}

// TestNoParentIsTold takes the ids of parents out of metadata, also where a field is there twice,
// or of another type.
func TestNoParentIsTold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": 1, "parent_id": "kept"}`:                                    `{"a": 1, "parent_id": null}`,
		`{"parent_id": "kept", "parent_id": "x", "a": 1}`:                  `{"a": 1, "parent_id": null}`,
		`{"parent_session_id": "kept", "a": 1, "parent_session_id": null}`: `{"a": 1, "parent_session_id": null}`,
		`{"fork": "kept"}`:                                                `{"fork": null}`,
		`{"fork": [{"source_session_id": "kept"}]}`:                       `{"fork": null}`,
		`{"fork": {"source_session_id": "kept", "source_session_id": 1}}`: `{"fork": {"source_session_id": null}}`,
		`{"fork": {"source_session_id": "kept"}, "fork": {"a": 1}}`:       `{"fork": {"a": 1}}`,
		`{"session_id": "kept", "session_id": "s"}`:                       `{"session_id": "s"}`,
		`{"session_id": "s", "name":  "n"}`:                               `{"session_id": "s", "name":  "n"}`,
		`{"conflict_of": "kept", "fork_cost_boundary": {"a": "kept"}}`:    `{"conflict_of": null}`,
	} {
		got := string(private.WithoutParents([]byte(text), "s"))
		require.Equal(testenv.Lost(t), want, got, text)
	}
}

// TestParentsInACircle: two sessions name each other, and one of them a session that stays. Both
// stay, in whichever order they are surveyed, also after their metadata were lost.
func TestParentsInACircle(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		g, _ := guard(t, []string{"draft"}, map[string]string{
			"kept/metadata.json":   `{"name": "draft"}`,
			"a/metadata.json":      `{"parent_id": "b", "parent_session_id": "kept"}`,
			"b/metadata.json":      `{"parent_id": "a", "parent_session_id": "letter"}`,
			"letter/metadata.json": `{}`,
		})
		require.NoError(t, g.Survey(t.Context(), slices.Values(order)))
		for _, id := range order {
			require.NoError(t, os.Remove(filepath.Join(g.Dir, id, "metadata.json")))
		}
		require.NoError(t, os.RemoveAll(filepath.Join(g.Dir, "kept")))
		for _, id := range order {
			require.True(testenv.Lost(t), g.Judge(t.Context(), id).Kept, "%s of %v", id, order)
		}
	}
}
