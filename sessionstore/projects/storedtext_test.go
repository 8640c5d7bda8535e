package projects

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStoredText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "plain": "plain", `a"b\`: `a\"b\\`, `"`: `\"`, "é\n<": `é\n<`} {
		got, err := storedText(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
