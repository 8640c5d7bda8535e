package testenv_test

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestCollectLess is not parallel: it changes the garbage collector for a moment.
func TestCollectLess(t *testing.T) {
	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	for given, want := range map[string]int{"": 400, "100": 100} {
		t.Setenv("GOGC", given)
		debug.SetGCPercent(100)
		testenv.CollectLess()
		require.Equal(t, want, debug.SetGCPercent(100), "GOGC=%s", given)
	}
}
