package testenv_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestLost is not parallel: it has the standard output for a moment.
func TestLost(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer out.Close()
	was := os.Stdout
	os.Stdout = out
	defer func() { os.Stdout = was }()

	require.Equal(t, "failed: 2 rows", outcome(t, func(tb testing.TB) { testenv.Lost(tb).Fatalf("%d rows", 2) }))
	require.Equal(testenv.Lost(t), 1, 1, "what passes prints nothing")
	text, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	require.Equal(t, "\nLOST TestLost\n", string(text))
}
