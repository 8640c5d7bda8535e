//go:build unix

package turn

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPipeForADraft has a pipe under the name of the draft, for which nobody waits.
func TestPipeForADraft(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	require.NoError(t, syscall.Mkfifo(draftPath(st, id), 0o600))
	require.Zero(t, draftOf(t, st, id))
	require.NoError(t, turn.Say("half"))
	require.NoError(t, turn.flush())
	require.Equal(t, "half", draftOf(t, st, id).Text)
	require.NoError(t, turn.End(t.Context()))
}
