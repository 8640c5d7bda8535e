package head

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// TestEndsAreFollowed: an end is followed over generations as long as it was the end in
// each. No generation changes what an earlier copy of the head tells.
func TestEndsAreFollowed(t *testing.T) {
	t.Parallel()
	at := func(text string) segment.Point { return segment.Origin(segment.Transcript).Add([]byte(text)) }
	var a Anew
	a.Next(End{at("a1"), at("a2")})
	one := a
	a.Next(End{at("a2"), at("a3")})
	two := a
	a.Next(End{at("b3"), at("b4")})
	for _, c := range []struct {
		anew       Anew
		generation int64
		was, now   string
		told       bool
	}{
		{Anew{}, 0, "a1", "a1", true},
		{one, 0, "a1", "a2", true},
		{one, 0, "x", "x", true},
		{one, 1, "a2", "a2", true},
		{one, 2, "a2", "a2", false},
		{two, 0, "a1", "a3", true},
		{two, 1, "a2", "a3", true},
		{a, 0, "a1", "a3", true},
		{a, 2, "b3", "b4", true},
		{a, -1, "a1", "a1", false},
	} {
		got, told := c.anew.Follow(c.generation, at(c.was))
		require.Equal(t, c.told, told, c)
		require.Equal(t, at(c.now), got, c)
	}
	a.Next(End{at("b4"), at("b5")})
	require.Len(t, a.Ends, MaxEnds)
	_, told := a.Follow(0, at("a1"))
	require.False(t, told, "it is too long ago")
	got, told := a.Follow(2, at("b3"))
	require.True(t, told)
	require.Equal(t, at("b5"), got)
	require.Len(t, one.Ends, 1)
}
