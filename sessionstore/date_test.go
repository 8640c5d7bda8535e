package sessionstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
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
		got, err := sessionstore.ParseDate(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.Format(time.RFC3339Nano), text)
	}
	for text, want := range map[string]string{
		"":           `parse date "": invalid isoformat string`,
		"yesterday":  `parse date "yesterday": invalid isoformat string`,
		"2026-13-01": `parse date "2026-13-01": month must be in 1..12`,
		"2026-02-30": `parse date "2026-02-30": day is out of range for month`,
	} {
		_, err := sessionstore.ParseDate(text)
		require.EqualError(t, err, want)
	}
	_, err := sessionstore.ParseDate(strings.Repeat("9", 1000))
	require.Error(t, err)
	require.Less(t, len(err.Error()), 200, "an error shows the beginning of a long text")
}

func TestCreated(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"created": "2026-08-01T10:30:00"}`:       "2026-08-01T10:30:00Z",
		`{"created": "2026-08-01T10:30:00+02:00"}`: "2026-08-01T10:30:00+02:00",
		`{"created": "yesterday"}`:                 "",
		`{"created": 1785580200}`:                  "",
		`{"created": null}`:                        "",
		`{}`:                                       "",
	} {
		md, err := sessionstore.ParseMetadata([]byte(raw))
		require.NoError(t, err)
		created, ok := md.Created()
		require.Equal(t, want != "", ok, raw)
		if ok {
			require.Equal(t, want, created.Format(time.RFC3339), raw)
		}
	}
	_, ok := sessionstore.Metadata{}.Created()
	require.False(t, ok)
}

func ExampleParseDate() {
	after, err := sessionstore.ParseDate("2026-08-01")
	if err != nil {
		panic(err)
	}
	fmt.Println(projects.Query{After: after}.After)
	// Output: 2026-08-01 00:00:00 +0000 UTC
}

func TestProjectSlug(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/": "-", "/home/ada": "-home-ada", `C:\projects\web-app`: "-C-projects-web-app", `C:\`: "-C-",
		`\\server\share`: "--server-share", ":": "-", "/a b/ü.x": "-a b-ü.x", "": "-",
	} {
		require.Equal(t, want, sessionstore.ProjectSlug(path), path)
	}
}
