//go:build !386 && !arm

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestApprove goes on with a graph as a program that starts anew does.
func TestApprove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	approve := func(target string) string {
		t.Helper()
		var out strings.Builder
		require.NoError(t, run(t.Context(), []string{dir, "deploys", target}, &out))
		return out.String()
	}
	require.Equal(t, "Deploy to staging?\n", approve("staging"))
	require.Equal(t, "Deploy to staging?\n", approve("production"), "the first question waits")
	require.Equal(t, "Deployed to staging.\n", approve("-yes"))
	require.ErrorContains(t, run(t.Context(), []string{dir, "deploys", "-yes"}, new(strings.Builder)), "nothing waits")
	require.Equal(t, "Deploy to production?\n", approve("production"))
	require.Error(t, run(t.Context(), nil, new(strings.Builder)))
}
