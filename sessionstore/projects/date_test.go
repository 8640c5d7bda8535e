package projects_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

func TestParseDate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-08-01":                       "2026-08-01T00:00:00Z",
		"20260801":                         "2026-08-01T00:00:00Z",
		"2026-W31-6":                       "2026-08-01T00:00:00Z",
		"2026-08-01 10:30":                 "2026-08-01T10:30:00Z",
		"2026-08-01T10:30:00+02:00":        "2026-08-01T10:30:00+02:00",
		"2026-08-01T10:30:00.1234567Z":     "2026-08-01T10:30:00.123456Z",
		"2026-08-01T10:30:00.123456+00:00": "2026-08-01T10:30:00.123456Z",
	} {
		got, err := projects.ParseDate(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.Format(time.RFC3339Nano), text)
	}
	for text, want := range map[string]string{
		"":           `parse date "": invalid isoformat string`,
		"yesterday":  `parse date "yesterday": invalid isoformat string`,
		"2026-13-01": `parse date "2026-13-01": month must be in 1..12`,
		"2026-02-30": `parse date "2026-02-30": day is out of range for month`,
	} {
		_, err := projects.ParseDate(text)
		require.EqualError(t, err, want)
	}
	_, err := projects.ParseDate(strings.Repeat("9", 1000))
	require.Error(t, err)
	require.Less(t, len(err.Error()), 200, "an error shows the beginning of a long text")
}

func ExampleParseDate() {
	after, err := projects.ParseDate("2026-08-01")
	if err != nil {
		panic(err)
	}
	fmt.Println(projects.Query{After: after}.After)
	// Output: 2026-08-01 00:00:00 +0000 UTC
}
