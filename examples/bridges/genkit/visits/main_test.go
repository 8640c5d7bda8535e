package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVisits loads the state as a program that starts anew does.
func TestVisits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	visit := func(args ...string) (id, visits string) {
		t.Helper()
		var out strings.Builder
		require.NoError(t, run(t.Context(), append([]string{dir}, args...), &out))
		id, visits, _ = strings.Cut(strings.TrimSpace(out.String()), " ")
		return id, visits
	}
	first, visits := visit()
	require.Equal(t, "1", visits)
	again, visits := visit(first)
	require.Equal(t, []string{first, "2"}, []string{again, visits})
	other, visits := visit()
	require.NotEqual(t, first, other)
	require.Equal(t, "1", visits)
	require.Error(t, run(t.Context(), []string{dir, "nothing"}, new(strings.Builder)))
	require.Error(t, run(t.Context(), nil, new(strings.Builder)))
}
