package replica

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

func TestForm(t *testing.T) {
	t.Parallel()
	rnd := testenv.Rand(t)
	text := func() []byte {
		return []byte(strings.Repeat("a", rnd.IntN(3)) + strings.Repeat("b", rnd.IntN(3)) + strings.Repeat("a", rnd.IntN(3)))
	}
	for n := range int64(2000) {
		line, sent := text(), text()
		f := FormOf(n, line, sent)
		require.True(t, f.Of(line))
		require.Equal(t, sent, f.Apply(line), "%q as %q", line, sent)
		require.Equal(t, n, f.N)
		other := append(line, 'c')
		require.False(t, f.Of(other))
		f.Begin += len(line) + 1 // as a damaged state has it
		require.False(t, f.Of(line))
	}
}
