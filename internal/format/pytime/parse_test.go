package pytime

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// In the tables, want is Python 3.11's isoformat; empty means an error.

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"first offset wins after colon is added", "2026-01-02T03:04:05+0530+foo", "2026-01-02T03:04:05+05:30"},
		{"offset and Z", "2026-01-02T03:04:05+0530Z", "2026-01-02T03:04:05+05:30"},
		{"seconds in bare offset", "2026-01-02T03:04:05+053015.25", "2026-01-02T03:04:05+05:30:15.250000"},
		{"negative fraction of offset", "2026-01-02T03:04:05-00:00:00.5", "2026-01-02T03:04:05-00:00:00.500000"},
		{"largest offset", "2026-01-02T03:04:05+23:59:59.999999", "2026-01-02T03:04:05+23:59:59.999999"},
		{"colon only first", "2026-01-02T03:04:05+05:3015", ""},
		{"colon only second", "2026-01-02T03:04:05+0530:15", ""},
		{"sixty minutes of offset", "2026-01-02T03:04:05+05:60", "2026-01-02T03:04:05+06:00"},
		{"hundred hours of offset", "2026-1-2T03:04:05+99:00", ""},
		{"space before day", "2026-01- 2T03:04:05", "2026-01-02T03:04:05"},
		{"Arabic digits", "٢٠٢٦-01-0٢T03:04:05+٠٥٣٠", ""},
		{"Arabic day after leading one", "2026-01-1٢T0٣:04:05+٠٥3٠", "2026-01-12T03:04:05+05:30"},
		{"mathematical digits", "𝟐𝟘𝟤𝟲-01-02T03:04:0𝟿", "2026-01-02T03:04:09"},
		{"Arabic fraction", "2026-01-02T03:04:05.٥", ""},
		{"Arabic fraction of offset", "2026-01-02T03:04:05+01:00:00.٥", "2026-01-02T03:04:05+01:00:00.500000"},
		{"leap second", "2026-01-02T03:04:60", ""},
		{"lower z with fraction", "2026-01-02T03:04:05.25z", "2026-01-02T03:04:05.250000"},
		{"comma", "2026-01-02T03:04:05,25Z", "2026-01-02T03:04:05.250000+00:00"},
		{"cut, not rounded", "2026-01-02T03:04:05.9999999Z", "2026-01-02T03:04:05.999999+00:00"},
		{"first instant east", "0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"},
		{"last instant west", "9999-12-31T23:59:59.999999-14:00", "9999-12-31T23:59:59.999999-14:00"},
		{"year zero", "0000-01-01T00:00:00Z", ""},
		{"not UTF-8", "2026-01-02T03:04:05\xff", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, aware, err := Parse(tt.text)
			if tt.want == "" {
				require.EqualError(t, err, "Cannot parse timestamp: "+tt.text)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, isoformat(got, aware))
		})
	}
}

func TestParseCreated(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"date", "2026-01-02", "2026-01-02T00:00:00+00:00"},
		{"basic date", "20260102", "2026-01-02T00:00:00+00:00"},
		{"week", "2020-W53", "2020-12-28T00:00:00+00:00"},
		{"week that the year lacks", "2026-W54", ""},
		{"week 53 of a short year", "2025-W53", ""},
		{"week zero", "2026-W00-1", ""},
		{"day zero of week", "2026-W01-0", ""},
		{"day eight of week", "2026-W01-8", ""},
		{"hyphen without day", "2026-W01-", ""},
		{"mixed hyphens", "2026-W011", ""},
		{"hours after week", "2026-W01-03", "2025-12-29T03:00:00+00:00"},
		{"hours after week and day", "2026-W01-5T03", "2026-01-02T03:00:00+00:00"},
		{"digit between week and hours", "2026W01103", "2025-12-29T03:00:00+00:00"},
		{"digit between day and hours", "2026W015103", "2026-01-02T03:00:00+00:00"},
		{"week behind year 9999", "9999-W52-6", ""},
		{"first week", "0001-W01-1", "0001-01-01T00:00:00+00:00"},
		{"separator of two bytes", "2026-01-02é03:04", "2026-01-02T03:04:00+00:00"},
		{"separator of three bytes", "2026-01-02€03:04", "2026-01-02T03:04:00+00:00"},
		{"separator of four bytes", "2026-01-02😀03:04", "2026-01-02T03:04:00+00:00"},
		{"separator half of a pair", "2026-01-02\xed\xa0\x8003:04", "2026-01-02T03:04:00+00:00"},
		{"separator cut off", "2026-01-02\xf0", ""},
		{"separator without time", "2026-01-02T", ""},
		{"digit as separator", "2026-01-02003:04", "2026-01-02T03:04:00+00:00"},
		{"minute incomplete", "2026-01-02T03:4", ""},
		{"colon at the end", "2026-01-02T03:", ""},
		{"colon before offset", "2026-01-02T03:+01:00", "2026-01-02T03:00:00+01:00"},
		{"digit before offset", "2026-01-02T031+01:00", "2026-01-02T03:00:00+01:00"},
		{"junk before offset", "2026-01-02T03:04:05.1234567x+01:00", "2026-01-02T03:04:05.123456+01:00"},
		{"half of a pair before offset", "2026-01-02T03:04:05.1234567\xed\xa0\x80+01:00", ""},
		{"junk at the end", "2026-01-02T03:04:05.1234567x", ""},
		{"fraction of hours", "2026-01-02T03.5", "2026-01-02T03:00:00.500000+00:00"},
		{"fraction after colon", "2026-01-02T03:04:05:25", "2026-01-02T03:04:05.250000+00:00"},
		{"fraction without mark", "2026-01-02T03040525", "2026-01-02T03:04:05.250000+00:00"},
		{"NUL ends the time", "2026-01-02T03:04\x00", "2026-01-02T03:04:00+00:00"},
		{"NUL after Z ends all", "2026-01-02T03:04Z\x00junk", "2026-01-02T03:04:00+00:00"},
		{"fraction of an offset", "2026-01-02T03:04+05.5", "2026-01-02T03:04:00+05:00:00.500000"},
		{"only a fraction as offset", "2026-01-02T03:04-00:00:00.5", "2026-01-02T03:04:00+00:00"},
		{"sign without offset", "2026-01-02T03:04+", ""},
		{"offset of a day", "2026-01-02T03:04-23:59:60", ""},
		{"year only", "2026", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := ParseCreated(tt.text)
			require.Equal(t, tt.want != "", ok)
			if ok {
				require.Equal(t, tt.want, Format(got))
			}
		})
	}
}

func TestParseFilterError(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"yesterday", `parse date "yesterday": invalid isoformat string`},
		{"0000-01-01", `parse date "0000-01-01": year is out of range`},
		{"2026-13-01", `parse date "2026-13-01": month must be in 1..12`},
		{"2026-02-29", `parse date "2026-02-29": day is out of range for month`},
		{"2026-01-02T24", `parse date "2026-01-02T24": hour must be in 0..23`},
		{"2026-01-02T03:60", `parse date "2026-01-02T03:60": minute must be in 0..59`},
		{"2026-01-02T03:04:60", `parse date "2026-01-02T03:04:60": second must be in 0..59`},
		{"2026-13-02T24+24", `parse date "2026-13-02T24+24": offset must be strictly between -24 and 24 hours`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			_, err := ParseFilter(tt.text)
			require.EqualError(t, err, tt.want)
		})
	}
}

// TestPlain holds the shortcut of Parse against the long way.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123Z", "2026-01-02T03:04:05.123456+00:00", "2026-01-02T03:04:05-08:00",
		"2026-01-02T03:04:05", "2026-01-02T03:04:05.5", "2026-01-02T03:04:05.1234567+05:30", "2026-01-02T03:04:05.Z",
		"2026-01-02T03:04:05-05:99", "2026-02-29T03:04:05Z", "2026-01-02T03:04:60Z", "2026-01-02T03:04:05.",
	} {
		require.True(t, isPlain(text), text)
		got, aware, err := Parse(text)

		long := normalise(text)
		want, wantAware, ok := parseStrptime(long)
		if !ok {
			var wantErr error
			want, wantAware, wantErr = parseISO(long)
			ok = wantErr == nil
		}
		require.Equal(t, ok, err == nil, text)
		require.Equal(t, wantAware, aware, text)
		require.True(t, want.Equal(got), text)
		require.Equal(t, Format(want), Format(got), text)
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	for _, text := range []string{
		"2026-01-02T03:04:05.123456+00:00", "2026-01-02T03:04:05.123Z", "2026-01-02T03:04:05-08:00", "2026-01-02T03:04:05.123456",
	} {
		allocs := testing.AllocsPerRun(100, func() {
			if _, _, err := Parse(text); err != nil {
				t.Fatal(err)
			}
		})
		require.Zero(t, allocs, text)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"2026-01-02T03:04:05.123456+00:00", "2026-1-2T3:4:5z", "2026-W01-5T03:04:05Z", "2026W015103", "20260102T030405,5-0800",
		"2026-01-02€03:04+05.5", "٢٠٢٦-01-1٢T03:04:05+٠٥3٠", "2026-01-02T03:04\x00", "2026-01-02\xed\xa0\x8003", "2026-01-02\xff",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, _, err := Parse(text); err == nil {
			requireRoundTrip(t, got)
		}
		created, ok := ParseCreated(text)
		filter, err := ParseFilter(text)
		require.Equal(t, ok, err == nil)
		require.True(t, created.Equal(filter))
		if ok {
			requireRoundTrip(t, created)
		}
	})
}

// requireRoundTrip requires that what Format writes of t is read as t.
func requireRoundTrip(t *testing.T, want time.Time) {
	t.Helper()
	text := Format(want)
	got, aware, err := Parse(text)
	require.NoError(t, err)
	require.True(t, aware)
	require.True(t, want.Equal(got))
	require.Equal(t, text, Format(got))
}

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"form=z":       "2026-01-02T03:04:05.123Z",
		"form=utc":     "2026-01-02T03:04:05.123456+00:00",
		"form=half":    "2026-01-02T03:04:05.123456+05:30",
		"form=naive":   "2026-01-02T03:04:05.123456",
		"form=nocolon": "2026-01-02T03:04:05.123456+0000",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
