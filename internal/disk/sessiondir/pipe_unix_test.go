//go:build unix

package sessiondir

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// TestPipe shows that nobody waits for a pipe that stands in a file's place.
func TestPipe(t *testing.T) {
	t.Parallel()
	d, path := openSession(t, nil)
	require.NoError(t, syscall.Mkfifo(filepath.Join(path, "f"), 0o600))
	_, _, err := d.Read("f")
	require.ErrorIs(t, err, vfs.ErrNotRegular)
	aside, err := d.Quarantine("f")
	require.NoError(t, err)
	require.Contains(t, names(t, d), aside)
}
