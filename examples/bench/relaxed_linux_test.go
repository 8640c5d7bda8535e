package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRelaxed requires a line for each call, and one for the bare calls beside it.
func TestRelaxed(t *testing.T) {
	work := layOut(t)
	var out bytes.Buffer
	require.NoError(t, bench([]string{"relaxed", "12", "5"}, &out))
	var names []string
	for line := range strings.Lines(out.String()) {
		var got result
		require.NoError(t, json.Unmarshal([]byte(line), &got))
		require.Equal(t, 5, got.N)
		require.Greater(t, got.Median, 0.0)
		names = append(names, got.Op)
	}
	require.Equal(t, []string{"relaxed-append", "relaxed-append-bare", "relaxed-metadata", "relaxed-metadata-bare"}, names)
	left, err := os.ReadDir(work)
	require.NoError(t, err)
	require.Empty(t, left)
}
