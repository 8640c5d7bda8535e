package vfs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// century is a step of a clock in which a test begins and ends.
const century = 100 * 365 * 24 * time.Hour

// open reads the sessions directory path, which it makes when it is not there.
func open(t *testing.T, path string, hooks *seam.Seam) *Sessions {
	t.Helper()
	require.NoError(t, os.MkdirAll(path, 0o700))
	return NewSessions(path, hooks, func() (*os.File, error) {
		f, err := os.Open(path)
		if err == nil {
			t.Cleanup(func() { _ = f.Close() })
		}
		return f, err
	})
}

func openSessions(t *testing.T, hooks *seam.Seam) *Sessions {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "sessions"), hooks)
}

// putFile writes a file at the path of these parts.
func putFile(t *testing.T, content string, parts ...string) {
	t.Helper()
	path := filepath.Join(parts...)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}
