package hybrid

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorShowsTheBeginningOfAnID(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("x", 1000)
	err := wrap("sync", id, ErrDeferred)
	require.ErrorIs(t, err, ErrDeferred)
	require.NotContains(t, err.Error(), id[:65])
	require.Contains(t, err.Error(), id[:64])
}
