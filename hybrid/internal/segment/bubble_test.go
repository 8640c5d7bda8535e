package segment

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestBubbles: what one bubble has used serves the next one, and those outside.
func TestBubbles(t *testing.T) {
	t.Parallel()
	lines := awkward()
	try := func(t *testing.T) {
		s := newShelf()
		end := s.store(t, Options{}, start(Transcript), lines)
		got, err := collect(Lines(s, Transcript, s.infos(t, Transcript), Origin(Transcript), end.Mark.Point(), nil))
		require.NoError(t, err)
		require.Len(t, got, len(lines))
	}
	synctest.Test(t, try)
	try(t)
	synctest.Test(t, try)
}
