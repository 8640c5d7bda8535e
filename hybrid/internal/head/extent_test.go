package head

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

func TestRules(t *testing.T) {
	t.Parallel()
	r := Extent{N: 4}.Ruled(nil, 0, "")
	require.Nil(t, r.Rules, "nothing is redacted")
	r = Extent{N: 6}.Ruled([]Rules{{0, ""}}, 4, "a")
	require.Equal(t, []Rules{{0, ""}, {4, "a"}}, r.Rules)
	require.Equal(t, []Rules{{0, ""}}, Extent{N: 3}.Ruled(r.Rules, 3, "a").Rules, "what is left was sent without rules")
	r = Extent{N: 8}.Ruled(r.Rules, 6, "a")
	require.Equal(t, []Rules{{0, ""}, {4, "a"}}, r.Rules)
	r = Extent{N: 9}.Ruled(r.Rules, 8, "b")
	require.Equal(t, []Rules{{0, ""}, {4, "a"}, {8, "b"}}, r.Rules)
	require.Equal(t, []Rules{{0, ""}, {3, "b"}}, Extent{N: 5}.Ruled(r.Rules, 3, "b").Rules, "a rewrite")
	require.Equal(t, []Rules{{0, ""}, {4, "a"}}, Extent{N: 6}.Ruled(r.Rules, 6, "b").Rules, "a rewind")
	require.Nil(t, Extent{}.Ruled(r.Rules, 0, "b").Rules)

	for n := range int64(3 * maxRules) {
		r = Extent{N: n + 1}.Ruled(r.Rules, n, string(rune('a'+n%2)))
		require.NoError(t, validRules(r.Rules, r.N))
		require.LessOrEqual(t, len(r.Rules), maxRules)
	}

	plain := Head{Transcript: Extent{N: 3}, Redaction: "a", Logs: map[segment.Stream]Extent{"e-1": {N: 1}}}
	require.Equal(t, []Rules{{0, ""}}, plain.RulesOf(segment.Transcript))
	require.Equal(t, []Rules{{0, ""}}, plain.RulesOf("e-1"), "whatever other lines went through")
	require.True(t, plain.AllUnder(""))
	require.False(t, plain.AllUnder("a"))
	for _, bad := range [][]Rules{{{1, "a"}}, {{0, "a"}, {0, "b"}}, {{0, "a"}, {3, "b"}}, {{0, "a"}, {2, "b"}, {1, "c"}}} {
		require.ErrorIs(t, validRules(bad, 3), segment.ErrDamaged)
	}
}

// TestThrough: that lines went through rules counts only where it is said of each.
func TestThrough(t *testing.T) {
	t.Parallel()
	require.True(t, Extent{}.Through("a/1"), "there are no lines")
	require.False(t, Extent{N: 2}.Through("a/1"), "nobody said so")
	require.True(t, Extent{N: 2, Rules: []Rules{{0, "a/1"}}}.Through("a/1"))
	require.False(t, Extent{N: 2, Rules: []Rules{{0, "a/1"}, {1, "a/2"}}}.Through("a/1"))
}
