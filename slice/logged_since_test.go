package slice

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLoggedSince finds the lines that were logged since a log was cut: every byte of them,
// also the blank line that Append writes after a sync that failed.
func TestLoggedSince(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, old, now, since string }{
		{"nothing", "a\nb\n", "a\n", ""},
		{"a cut log", "a\nb\n", "a\nc\n", "c\n"},
		{"a blank line before", "a\nb\n", "a\n\n \nc\n\nd", "\n \nc\n\nd"},
		{"blank lines at the beginning", "a\n", "\n\nc\n", "\n\nc\n"},
		{"blank lines at the end", "a\nb\n", "a\n\n\n", ""},
		{"a line that was logged again", "a\nb\n", "b\na\n", "a\n"},
	} {
		from, more, err := loggedSince(t.Context(), strings.NewReader(tt.old), strings.NewReader(tt.now))
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.since != "", more, tt.name)
		if more {
			require.Equal(t, tt.since, tt.now[from:], tt.name)
		}
	}
}
