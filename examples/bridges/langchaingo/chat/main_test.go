package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChat goes on with a conversation as a program that starts anew does.
func TestChat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, want := range []string{"That was number 1.\n", "That was number 2.\n", "That was number 3.\n"} {
		var out strings.Builder
		require.NoError(t, run(t.Context(), []string{dir, "talk", "Hello."}, &out))
		require.Equal(t, want, out.String())
	}
	require.Error(t, run(t.Context(), nil, new(strings.Builder)))
}
