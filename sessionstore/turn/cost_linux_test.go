package turn

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/approvals"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
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

// TestCostOfACall holds that a call writes the file of approvals once, and once before the user
// is asked.
func TestCostOfACall(t *testing.T) {
	t.Parallel()
	for name, approve := range map[string]func(context.Context, sessionstore.ToolCall) (agentstate.Verdict, error){
		"nobody is asked": nil,
		"approved": func(context.Context, sessionstore.ToolCall) (agentstate.Verdict, error) {
			return agentstate.Approved, nil
		},
		"rejected": func(context.Context, sessionstore.ToolCall) (agentstate.Verdict, error) {
			return agentstate.Rejected, nil
		},
	} {
		for _, n := range []int{100, 2000} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				t.Parallel()
				writes, written := 0, 0
				st := newStore(t, &seam.Seam{After: func(op seam.Op) {
					if op.Kind == seam.Write && strings.Contains(op.Name, approvals.CallsFile) {
						writes++
						written += len(op.Data)
					}
				}})
				turn := begin(t, st, &Options{Approve: approve})
				var ran []string
				for i := range n {
					ran = append(ran, fmt.Sprintf(`{"id": "%d.%d.0123456789abcdef.toolu_01A09q90qw90lq917835lq9", "ran": "AAAAAAAAAAA"}`, i, 2*i))
				}
				file := `{"v": 1, "approvals": [` + strings.Join(ran, ", ") + "]}\n"
				require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), id, approvals.CallsFile), []byte(file), 0o600))
				require.NoError(t, turn.Step(t.Context(), calls(t, "c1")))
				_, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: "c1"}, result)
				require.NoError(t, err)
				most := 1
				if approve != nil {
					most = 2
				}
				require.Equal(t, most, writes)
				require.Less(t, written, most*(len(file)+250))
			})
		}
	}
}
