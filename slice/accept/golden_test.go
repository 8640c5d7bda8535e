package accept_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// unseen are vectors that the reference calls healthy although a result
// follows a reminder or another call, or a call uses an id anew.
var unseen = []string{"random_19", "random_37", "random_56", "conv_tc_dup_ids", "fm2_result_before_call"}

// TestAcceptsGolden judges what the reference's repair makes: its pairs are
// accepted, but for calls in blocks, which it does not see, and unseen.
func TestAcceptsGolden(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "golden", "repair.json"))
	require.NoError(t, err)
	var vectors []struct {
		Name string
		File struct{ Text string } `json:"expected_file"`
		Then string                `json:"status_after"`
	}
	require.NoError(t, json.Unmarshal(raw, &vectors))
	judged := 0
	var refused []string
	for _, v := range vectors {
		var msgs []sessionstore.Message
		for line := range strings.SplitSeq(strings.TrimRight(v.File.Text, "\n"), "\n") {
			if m, err := sessionstore.ParseMessage([]byte(line)); err == nil {
				msgs = append(msgs, m)
			}
		}
		if v.Then != "healthy" || len(msgs) == 0 {
			continue
		}
		judged++
		late := slices.ContainsFunc(accept.Check(accept.OpenAIChat, msgs), func(r accept.Refusal) bool {
			return r.Reason == accept.ResultLate || r.Reason == accept.ResultEarly || r.Reason == accept.CallNoResult && listed(msgs[r.Row], r.CallID)
		})
		if late {
			refused = append(refused, v.Name)
		}
		checkMending(t, 0, msgs)
	}
	require.Greater(t, judged, 50)
	require.ElementsMatch(t, unseen, refused)
}

// listed reports whether a call stands in tool_calls.
func listed(m sessionstore.Message, id string) bool {
	raw, _ := m.Lookup("tool_calls")
	return strings.Contains(string(raw), `"`+id+`"`)
}
