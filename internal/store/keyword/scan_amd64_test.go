package keyword

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPortable makes sure that GODEBUG=cpu.avx2=off takes the way of processors
// without AVX2.
func TestPortable(t *testing.T) {
	t.Parallel()
	if strings.Contains(os.Getenv("GODEBUG"), "cpu.avx2=off") {
		require.False(t, hasBlocks)
		return
	}
	t.Log("AVX2:", hasBlocks)
}
