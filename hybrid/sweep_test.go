package hybrid

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
)

func TestLeftoversAreSwept(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	state := filepath.Join(dir, ".sessionstore", "sync")
	require.NoError(t, os.MkdirAll(state, 0o700))
	for name, age := range map[string]time.Duration{
		"x" + replica.Arriving + "old": 25 * time.Hour, "x" + replica.Arriving + "new": time.Hour, "x.json": 1000 * time.Hour,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(state, name), nil, 0o600))
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(filepath.Join(state, name), at, at))
	}
	c.deviceAt(t, dir, "a")
	require.NoFileExists(t, filepath.Join(state, "x"+replica.Arriving+"old"))
	require.FileExists(t, filepath.Join(state, "x"+replica.Arriving+"new"))
	require.FileExists(t, filepath.Join(state, "x.json"))
}
