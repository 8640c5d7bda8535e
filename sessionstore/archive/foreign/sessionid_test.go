package foreign

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSessionID has each history of the corpus tell, before it is imported, the id of
// the session that its import makes.
func TestSessionID(t *testing.T) {
	t.Parallel()
	p := openProjects(t)
	conversations, agents := 0, 0
	for _, h := range corpus(t) {
		report, err := Import(t.Context(), p, h, nil)
		if errors.Is(err, ErrEmpty) {
			continue
		}
		require.NoError(t, err)
		id := h.SessionID()
		if id == "" {
			agents++
			for _, s := range report.Sessions {
				require.Equal(t, Agent, s.Kind, h.Path)
			}
			continue
		}
		conversations++
		require.Equal(t, id, report.Sessions[0].ID, h.Path)
		require.Equal(t, Conversation, report.Sessions[0].Kind, h.Path)
	}
	require.NotZero(t, conversations)
	require.NotZero(t, agents)
}
