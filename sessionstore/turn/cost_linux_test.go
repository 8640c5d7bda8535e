package turn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestCostOfATurn holds that a turn with a call and a streamed answer writes as much after many
// messages as after few, and syncs nothing of the draft.
func TestCostOfATurn(t *testing.T) {
	t.Parallel()
	cost := func(n int) (kinds []string, written int) {
		counts := false
		st := newStore(t, &seam.Seam{After: func(op seam.Op) {
			if counts && !strings.HasSuffix(op.Name, ".lock") {
				kinds = append(kinds, fmt.Sprint(op.Kind, " ", strings.TrimRight(op.Name, "0123456789")))
				written += len(op.Data)
			}
		}})
		var before []sessionstore.Message
		for range n {
			before = append(before, text(t, "user", "before"), text(t, "assistant", strings.Repeat("x", 1000)))
		}
		require.NoError(t, st.Append(t.Context(), id, before...))
		for range 2 { // the first appends make the backups
			require.NoError(t, begin(t, st, nil).End(t.Context()))
		}
		counts = true
		turn := begin(t, st, nil)
		require.NoError(t, turn.Step(t.Context(), calls(t, "c1")))
		_, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: "c1"}, result)
		require.NoError(t, err)
		for range 3 {
			require.NoError(t, turn.Say("piece"))
			require.NoError(t, turn.flush())
		}
		require.NoError(t, turn.End(t.Context()))
		return kinds, written
	}
	few, short := cost(10)
	many, long := cost(2000)
	require.Equal(t, few, many)
	require.InDelta(t, short, long, 100)
	require.Less(t, long, 8000)
	require.NotContains(t, many, "sync "+sessiondir.Draft)
}
