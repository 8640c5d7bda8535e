package cost

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCallsOver(t *testing.T) {
	t.Parallel()
	limits, err := parseCalls(strings.NewReader("# operation calls\na 10.0\n\n"))
	require.NoError(t, err)
	require.Equal(t, "# operation calls\na 10.0\n", limits.String())
	require.NoError(t, limits.Over(Calls{"a": 11.5}))
	require.EqualError(t, limits.Over(Calls{"a": 11.6}), "a: 11.6 system calls, 10.0 are allowed")
	require.EqualError(t, limits.Over(Calls{"a": 6.9, "b": 1}), "a: 6.9 system calls, so the limit 10.0 can be lower\nb: has no limit")
	require.EqualError(t, limits.Over(Calls{}), "a: has a limit and is not measured")
	_, err = parseCalls(strings.NewReader("a many"))
	require.ErrorContains(t, err, "a many")
	_, err = readCalls("testdata/none")
	require.Error(t, err)
}
