//go:build unix

package projects_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestFindWaitsForNoPipe searches where pipes stand in the places of files.
func TestFindWaitsForNoPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sessions := filepath.Join(dir, "p", "sessions")
	require.NoError(t, os.MkdirAll(filepath.Join(sessions, "a"), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(sessions, "a", metadataFile), 0o600))
	createdAt(t, "2026-01-01", sessions, "b")
	require.NoError(t, syscall.Mkfifo(filepath.Join(sessions, "b", transcriptFile), 0o600))
	found, err := openProjects(t, dir).Find(t.Context(), projects.Query{Keyword: "x"})
	require.Empty(t, found)
	require.ElementsMatch(t, []string{"a", "b"}, failed(err))
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)
}
