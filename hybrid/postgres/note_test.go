package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestClockGoesBack: after the server's clock was an hour ahead, times are its present ones,
// and lists are not complete for a time that is to come.
func TestClockGoesBack(t *testing.T) {
	t.Parallel()
	r, now := &Remote{}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r.note(now.Add(time.Hour), now.Add(time.Hour))
	r.note(now, time.Time{}) // a read has no time for lists
	info, err := r.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, now, info.Time)
	require.False(t, info.Complete.IsZero())
	r.note(now, now.Add(-time.Second))
	info, err = r.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, now.Add(-time.Second), info.Complete)
}
