package sessionstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

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

func TestProjectSlug(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/": "-", "/home/ada": "-home-ada", `C:\projects\web-app`: "-C-projects-web-app", `C:\`: "-C-",
		`\\server\share`: "--server-share", ":": "-", "/a b/ü.x": "-a b-ü.x", "": "-",
	} {
		require.Equal(t, want, sessionstore.ProjectSlug(path), path)
	}
}
