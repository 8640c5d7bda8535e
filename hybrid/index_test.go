package hybrid

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestIndexStaysHere lists sessions, which keeps their names and prompts beside them:
// a sync sends no word of it, and what another device keeps goes with the session.
func TestIndexStaysHere(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("mine", "text of mine")
	a.setMember("mine", "name", "name of mine")
	a.say("large", "text of large "+strings.Repeat("x", 1<<20))
	for _, id := range []string{"mine", "large"} {
		require.NoError(t, a.KeepLocal(t.Context(), id))
	}
	a.say("open", "hello")
	for _, err := range a.Summaries(t.Context(), nil) {
		require.NoError(t, err)
	}
	v, err := a.View(t.Context(), "large")
	require.NoError(t, err)
	require.NoError(t, v.Close())
	index := filepath.Join(a.Dir(), ".sessionstore", "index")
	names, err := os.ReadDir(index)
	require.NoError(t, err)
	require.NotEmpty(t, names)
	require.Equal(t, 1, a.sync().Pushed)
	_, err = a.Check(t.Context(), "open", nil)
	require.NoError(t, err)
	c.requirePlain(t, []string{"hello"}, []string{"of mine", "of large"})

	b := c.device(t, "b")
	b.pull()
	for _, err := range b.Summaries(t.Context(), nil) {
		require.NoError(t, err)
	}
	require.NoError(t, b.Delete(t.Context(), "open"))
	_, err = b.Summary(t.Context(), "open")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	files, err := filepath.Glob(filepath.Join(b.Dir(), ".sessionstore", "index", "*"))
	require.NoError(t, err)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(text), "hello")
	}
}
