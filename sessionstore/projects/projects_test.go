package projects_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func openProjects(t *testing.T, dir string) *projects.Projects {
	t.Helper()
	p, err := projects.Open(dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func TestProjects(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "projects")
	p := openProjects(t, dir)
	slugs, err := p.Slugs(t.Context())
	require.NoError(t, err)
	require.Empty(t, slugs)
	require.NoDirExists(t, dir, "opening makes nothing")

	for _, slug := range []string{"-home-b", "-home-a"} {
		st, err := p.Store(slug)
		require.NoError(t, err)
		again, err := p.Store(slug)
		require.NoError(t, err)
		require.Same(t, st, again)
		require.Equal(t, filepath.Join(dir, slug, "sessions"), st.Dir())
	}
	write(t, "not a project", dir, "file")
	write(t, "no sessions", dir, "other", "file")
	slugs, err = p.Slugs(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"-home-a", "-home-b"}, slugs)

	for _, bad := range []string{"", ".", "..", "a/b", `a\b`} {
		_, err := p.Store(bad)
		require.Error(t, err, bad)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Slugs(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

func TestProjectsClose(t *testing.T) {
	t.Parallel()
	p, err := projects.Open(t.TempDir(), nil)
	require.NoError(t, err)
	st, err := p.Store("a")
	require.NoError(t, err)
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	_, err = st.List(t.Context(), nil)
	require.ErrorIs(t, err, sessionstore.ErrClosed)
	_, err = p.Store("b")
	require.ErrorIs(t, err, sessionstore.ErrClosed)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, id := range []string{"p1/sessions/abc-1", "p1/sessions/abc_sub", "p1/sessions/only", "p2/sessions/abc-1", "p2/sessions/xyz", "p2/sessions/it's"} {
		write(t, "{}", dir, filepath.FromSlash(id), metadataFile)
	}
	write(t, user("no metadata"), dir, "p1", "sessions", "bare", transcriptFile)
	p := openProjects(t, dir)
	tests := []struct{ name, ref, slug, want, err string }{
		{"exact", "only", "", "p1/sessions/only", ""},
		{"prefix", "xy", "", "p2/sessions/xyz", ""},
		{"sub-session", "abc_", "", "p1/sessions/abc_sub", ""},
		{"one project", "abc-1", "p2", "p2/sessions/abc-1", ""},
		{"other project", "xyz", "p1", "", "No session found matching 'xyz'"},
		{"without metadata", "bare", "", "", "No session found matching 'bare'"},
		{"no trimming", " only", "", "", "No session found matching ' only'"},
		{"exact in two", "abc-1", "", "", "Ambiguous session ID 'abc-1': matched ['abc-1', 'abc-1']"},
		{"prefix of two", "abc", "p1", "", "Ambiguous partial session ID 'abc': matched ['abc-1', 'abc_sub']"},
		{"project without sessions", "x", "p3", "", "No session found matching 'x'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := p.Resolve(t.Context(), tt.ref, tt.slug)
			if tt.err != "" {
				require.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, filepath.Join(dir, filepath.FromSlash(tt.want)), got)
		})
	}
	path := filepath.Join(dir, "p1", "sessions", "only")
	got, err := p.Resolve(t.Context(), path, "")
	require.NoError(t, err)
	require.Equal(t, path, got)
	_, err = p.Resolve(t.Context(), filepath.Join(dir, "nowhere"), "")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = p.Resolve(t.Context(), "", "p2")
	require.EqualError(t, err, `Ambiguous partial session ID '': matched ['abc-1', "it's", 'xyz']`)
}
