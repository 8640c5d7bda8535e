package sessionstore_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value fmt.Stringer
		want  string
	}{
		{sessionstore.Wrote, "wrote"},
		{sessionstore.Removed, "removed"},
		{sessionstore.Rescan, "rescan"},
		{sessionstore.Op(3), "Op(3)"},
		{sessionstore.Op(-1), "Op(-1)"},
		{sessionstore.Durable, "durable"},
		{sessionstore.Relaxed, "relaxed"},
		{sessionstore.Durability(2), "Durability(2)"},
		{sessionstore.Durability(-1), "Durability(-1)"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, fmt.Sprint(tt.value))
	}
	change := sessionstore.Change{ID: "s", File: "metadata.json", Op: sessionstore.Removed}
	require.Equal(t, "{s metadata.json removed}", fmt.Sprint(change))
}
