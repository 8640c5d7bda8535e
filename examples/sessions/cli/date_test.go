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
		"2026-02-01":       time.Date(2026, 2, 1, 0, 0, 0, 0, zone),
		"20260201":         time.Date(2026, 2, 1, 0, 0, 0, 0, zone),
		"2026-W05-7":       time.Date(2026, 2, 1, 0, 0, 0, 0, zone),
		"2026-02-01T10:00": time.Date(2026, 2, 1, 10, 0, 0, 0, zone),

		"2026-02-01T10:00Z":         time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC),
		"2026-02-01 10:00:00-03:30": time.Date(2026, 2, 1, 13, 30, 0, 0, time.UTC),
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

// TestDateInZones has days of 23, 24 and 25 hours, days that begin at 01:00 or whose first
// hour comes twice, and one that a zone left out.
func TestDateInZones(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ zone, text, want string }{
		{"UTC", "2026-11-26", "2026-11-26T00:00:00Z"},
		{"Asia/Shanghai", "2026-11-26", "2026-11-25T16:00:00Z"},
		{"America/Los_Angeles", "2026-11-26", "2026-11-26T08:00:00Z"},
		{"Pacific/Kiritimati", "2026-11-26", "2026-11-25T10:00:00Z"},
		{"Pacific/Pago_Pago", "2026-11-26", "2026-11-26T11:00:00Z"},
		{"Asia/Kathmandu", "2026-11-26", "2026-11-25T18:15:00Z"},
		{"America/New_York", "2026-03-08", "2026-03-08T05:00:00Z"},
		{"America/New_York", "2026-03-09", "2026-03-09T04:00:00Z"},
		{"America/New_York", "2026-11-01", "2026-11-01T04:00:00Z"},
		{"America/New_York", "2026-11-02", "2026-11-02T05:00:00Z"},
		{"America/New_York", "2026-03-08T02:30", "2026-03-08T07:00:00Z"}, // skipped
		{"America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00Z"}, // twice
		{"Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:00:00Z"},
		{"Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00Z"},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z"}, // begins at 01:00
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z"},
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z"}, // begins twice
		{"Asia/Amman", "2021-10-29", "2021-10-28T21:00:00Z"},
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"}, // there was none
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"},
	} {
		zone, err := time.LoadLocation(tt.zone)
		require.NoError(t, err)
		a := &app{now: func() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, zone) }}
		got, err := a.date("since", tt.text)
		require.NoError(t, err)
		require.Equal(t, tt.want, got.UTC().Format(time.RFC3339), tt.zone+" "+tt.text)
		if len(tt.text) == len(time.DateOnly) { // today begins at the same instant
			a.now = func() time.Time { return got.Add(time.Minute) }
			if today, _ := a.date("since", "today"); got.In(zone).Format(time.DateOnly) == tt.text {
				require.True(t, got.Equal(today), tt.zone+" "+tt.text)
			}
		}
	}
}
