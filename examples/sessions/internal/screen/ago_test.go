package screen

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for before, want := range map[time.Duration]string{
		-time.Hour: "just now", 0: "just now", time.Minute: "1 m ago", 2 * time.Hour: "2 h ago", 47 * time.Hour: "1 d ago", 99 * 24 * time.Hour: "99 d ago", 100 * 24 * time.Hour: "Aug 2026",
	} {
		require.Equal(t, want, Ago(now, now.Add(-before)))
		require.LessOrEqual(t, len(Ago(now, now.Add(-before))), 8)
	}
	require.Empty(t, Ago(now, time.Time{}))
}
