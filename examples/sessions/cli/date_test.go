package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDate(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*3600)
	a := &app{now: func() time.Time { return time.Date(2026, 3, 1, 9, 30, 0, 0, zone) }}
	for text, want := range map[string]time.Time{
		"":                 {},
		"1h30m":            time.Date(2026, 3, 1, 8, 0, 0, 0, zone),
		"30m":              time.Date(2026, 3, 1, 9, 0, 0, 0, zone),
		"12h":              time.Date(2026, 2, 28, 21, 30, 0, 0, zone),
		"7d":               time.Date(2026, 2, 22, 9, 30, 0, 0, zone),
		"2W":               time.Date(2026, 2, 15, 9, 30, 0, 0, zone),
		"today":            time.Date(2026, 3, 1, 0, 0, 0, 0, zone),
		"Yesterday":        time.Date(2026, 2, 28, 0, 0, 0, 0, zone),
		"2026-02-01":       time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
		"2026-02-01T10:00": time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC),
	} {
		got, err := a.date("since", text)
		require.NoError(t, err, text)
		require.True(t, want.Equal(got), "%s: %v", text, got)
	}
	for _, text := range []string{"7", "7x", "d", "-7d", "999999d", "99999w", "0", "tomorrow", "2026-13-01"} {
		_, err := a.date("since", text)
		require.ErrorContains(t, err, "--since: ", text)
		require.ErrorContains(t, err, "is not a time; write a date as 2026-08-01, ", text)
	}
}
