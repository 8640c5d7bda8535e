package pyjson

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTruthy: what Python's bool says of json.loads, and of a value that is
// missing.
func TestTruthy(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`true`, `1`, `-1`, `123456789012345678901234567890`, `0.5`, `1e400`, `NaN`, `-Infinity`, `" "`, `"\u0000"`, `[0]`, `[ [] ]`, `{"a": null}`,
	} {
		require.True(t, Truthy([]byte(raw)), raw)
	}
	for _, raw := range []string{
		``, `null`, `false`, `0`, `-0`, `0.0`, `-0.0`, `0e5`, `1e-400`, `""`, `[]`, `[ ]`, `{}`, "{\n}",
	} {
		require.False(t, Truthy([]byte(raw)), raw)
	}
}
