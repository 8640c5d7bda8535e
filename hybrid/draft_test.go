package hybrid

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/hybridtest"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	turns "github.com/amplifier-go/sessionstorage/sessionstore/turn"
)

// TestDraftStaysHere syncs a session while an answer streams. The draft stays on its device, and
// is void once a row of another device comes.
func TestDraftStaysHere(t *testing.T) {
	t.Parallel()
	lost, r := testenv.Lost(t), hybridtest.New()
	a, b := at(t, r, filepath.Join(t.TempDir(), "a"), "a"), at(t, r, filepath.Join(t.TempDir(), "b"), "b")
	prompt, err := sessionstore.Text("user", "one", time.Unix(0, 0))
	require.NoError(t, err)
	begun, err := turns.Begin(t.Context(), a.Store.Store, "s", prompt, nil)
	require.NoError(t, err)
	require.NoError(t, begun.Say("half"))
	require.NoError(t, begun.Close())
	a.sync()
	b.pull()
	require.Equal(t, a.texts("s"), b.texts("s"))
	require.NoFileExists(lost, filepath.Join(b.Dir(), "s", sessiondir.Draft))
	draft := func() turns.Draft {
		d, err := turns.ReadDraft(t.Context(), a.Store.Store, "s")
		require.NoError(t, err)
		return d
	}
	require.Equal(lost, turns.Draft{Prompt: 1, Text: "half"}, draft())
	again := a.sync()
	require.Empty(t, again.Pushed, "nothing is new")

	b.say("s", "two")
	b.sync()
	a.pull()
	require.Len(t, a.texts("s"), 2)
	require.Zero(t, draft())
}
