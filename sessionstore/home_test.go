package sessionstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
	"github.com/amplifier-go/sessionstorage/sessionstore/checkpoint"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// A leading ~ is the home directory wherever a path of sessions is given, and no call makes
// a directory of that name.
func TestHomeInPaths(t *testing.T) { // not parallel: it changes the environment
	home, work := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Chdir(work)
	sessions := filepath.Join(home, "p", "sessions")

	st, err := sessionstore.Open("~/p/sessions", nil)
	require.NoError(t, err)
	require.Equal(t, sessions, st.Dir())
	require.NoError(t, st.Create(t.Context(), "s", sessionstore.Metadata{}))
	require.NoError(t, st.Close())

	hs, err := hybrid.Open(t.Context(), "~/p/sessions", nil)
	require.NoError(t, err)
	require.Equal(t, sessions, hs.Dir())
	require.True(t, hs.Exists("s"))
	require.NoError(t, hs.Close())

	log, err := eventslog.Open("~/p/sessions/s", nil)
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), eventslog.Event{Name: "a"}))
	require.NoError(t, log.Close())
	require.FileExists(t, filepath.Join(sessions, "s", "events.jsonl"))

	all, err := projects.Open("~", nil)
	require.NoError(t, err)
	p, err := all.Store("p")
	require.NoError(t, err)
	require.True(t, p.Exists("s"))
	to, err := sessionstore.Open("~/to", nil)
	require.NoError(t, err)
	_, err = archive.ReadDir(t.Context(), "~/p/sessions/s", to, nil)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	require.NoError(t, all.Close())

	run, err := checkpoint.New(nil).Create(t.Context(), "~/p", checkpoint.Setup{})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(home, "p", ".scientific-analysis-session"), run.Dir())
	_, err = checkpoint.New(nil).Open("~/p/.scientific-analysis-session")
	require.NoError(t, err)
	found, err := checkpoint.New(nil).Plan(t.Context(), "~/p", 1)
	require.NoError(t, err)
	require.NotEmpty(t, found.Items)

	entries, err := os.ReadDir(work)
	require.NoError(t, err)
	require.Empty(t, entries)
	named, err := sessionstore.Open("./~", nil)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(work, "~"), named.Dir())
	require.NoError(t, named.Close())
}
