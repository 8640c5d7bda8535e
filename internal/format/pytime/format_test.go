package pytime

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.January, 2, 3, 4, 5, 123456789, time.UTC)
	tests := []struct {
		name string
		time time.Time
		want string
	}{
		{"microseconds, cut", at, "2026-01-02T03:04:05.123456+00:00"},
		{"no microseconds", at.Truncate(time.Second), "2026-01-02T03:04:05+00:00"},
		{"nanoseconds only", at.Truncate(time.Second).Add(999), "2026-01-02T03:04:05+00:00"},
		{"trailing zeros stay", at.Truncate(100 * time.Millisecond), "2026-01-02T03:04:05.100000+00:00"},
		{"east", at.In(time.FixedZone("X", 5*3600+1800)), "2026-01-02T08:34:05.123456+05:30"},
		{"west with seconds", at.In(time.FixedZone("", -3723)), "2026-01-02T02:02:02.123456-01:02:03"},
		{"fraction of offset", at.In(time.FixedZone("-00:00:00.500000", 0)), "2026-01-02T03:04:04.623456-00:00:00.500000"},
		{"name of another offset", at.In(time.FixedZone("+01:00:00.500000", 7200)), "2026-01-02T05:04:05.123456+02:00"},
		{"name of that length", at.In(time.FixedZone("Atlantis/Daytime", 3600)), "2026-01-02T04:04:05.123456+01:00"},
		{"before 1970", time.Unix(-1, 0).UTC(), "1969-12-31T23:59:59+00:00"},
		{"first", time.Time{}, "0001-01-01T00:00:00+00:00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, Format(tt.time))
		})
	}
}

func TestFormatMillis(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.January, 2, 3, 4, 5, 999999999, time.FixedZone("", 3600))
	require.Equal(t, "2026-01-02T02:04:05.999+00:00", FormatMillis(at))
	require.Equal(t, "2026-01-02T02:04:05.000+00:00", FormatMillis(at.Truncate(time.Second)))
}
