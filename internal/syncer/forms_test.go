package syncer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsFormOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sent, line string
		want       bool
	}{
		{"", "", true},
		{"same", "same", true},
		{"same", "other", false},
		{"a [redacted:x] b", "a secret b", true},
		{"[redacted:x]", "secret", true},
		{"[redacted:x] and [redacted:y]", "one and two", true},
		{"a [redacted:x] b [redacted:y] c", "a 1 b 2 c", true},
		{"a [redacted:x] b [redacted:x] b", "a b 1 b 2 b", true},
		{"a [redacted:x] b", "b secret a", false},
		{"a [redacted:x] b", "a secret", false},
		{"a [redacted:x] b", "secret b", false},
		{"a [redacted:x] b [redacted:y] c", "a 1 2 c", false},
		{"a [redacted:x", "a [redacted:x", false}, // no whole marker: left to the comparison of bytes before
		{"a [redacted:x] b", "a [redacted:x] b", true},
		{"a [redacted:x] [redacted:y]", "a [redacted:x] c", true},
	} {
		require.Equal(t, c.want, isFormOf([]byte(c.sent), []byte(c.line)), "%q of %q", c.sent, c.line)
	}
}
