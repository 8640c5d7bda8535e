package hybrid

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// noting is a remote that finds something out with its first write.
type noting struct {
	remote.Remote
	found string
	given string
}

func (n *noting) Note() string        { return n.found }
func (n *noting) SetNote(note string) { n.given, n.found = note, note }

// TestNoteOfTheRemote: what a process found out about its remote, a later one is told, for a week
// and for the same remote alone.
func TestNoteOfTheRemote(t *testing.T) {
	t.Parallel()
	at, here, other := filepath.Join(t.TempDir(), "sessions"), &memremote.Remote{}, &memremote.Remote{}
	process := func(r remote.Remote, finds string) (given string) {
		n := &noting{Remote: r}
		s, err := Open(t.Context(), at, &Options{Remote: n, Project: "demo", User: "ada", Device: "a", Manual: true})
		require.NoError(t, err)
		d := &testDevice{s, t}
		given = n.given
		if finds != "" {
			n.found = finds
		}
		d.say("s", "a turn")
		d.sync()
		require.NoError(t, d.Close())
		return given
	}
	require.Empty(t, process(here, ""))
	require.Empty(t, process(here, "it swaps"))
	require.Equal(t, "it swaps", process(here, ""))
	require.Equal(t, "it swaps", process(here, ""))
	require.Empty(t, process(other, "it lists"))
	require.Empty(t, process(here, "it swaps"))
	file := filepath.Join(at, ".sessionstore", "sync", noteFile)
	old := time.Now().Add(-noteLasts - time.Minute)
	require.NoError(t, os.Chtimes(file, old, old))
	require.Empty(t, process(here, "it swaps"), "it is found out again")
	require.Equal(t, "it swaps", process(here, ""))
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.Empty(t, process(here, ""))
}
