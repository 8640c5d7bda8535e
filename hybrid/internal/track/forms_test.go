package track

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
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

func TestForm(t *testing.T) {
	t.Parallel()
	rnd := testenv.Rand(t)
	text := func() []byte {
		return []byte(strings.Repeat("a", rnd.IntN(3)) + strings.Repeat("b", rnd.IntN(3)) + strings.Repeat("a", rnd.IntN(3)))
	}
	for n := range int64(2000) {
		line, sent := text(), text()
		f := FormOf(n, line, sent)
		require.True(t, f.Of(line))
		require.Equal(t, sent, f.Apply(line), "%q as %q", line, sent)
		require.Equal(t, n, f.N)
		other := append(line, 'c')
		require.False(t, f.Of(other))
		f.Begin += len(line) + 1 // as a damaged state has it
		require.False(t, f.Of(line))
	}
}
