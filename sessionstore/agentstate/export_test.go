package agentstate

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExport(t *testing.T) {
	t.Parallel()
	s, _ := newState(t)
	ctx := t.Context()
	empty, err := s.Export(ctx)
	require.NoError(t, err)
	golden(t, "export-empty.json", string(empty)+"\n")
	require.NoError(t, s.RecordItems(ctx, items(`{"role": "user", "content": "<hi>"}`, `{"role": "assistant"}`)...))
	require.NoError(t, s.AddApprovedCommand(ctx, "ls"))
	require.NoError(t, s.AddTokenUsage(ctx, 3))
	require.NoError(t, s.SetRateLimits(ctx, json.RawMessage(`{"x": 1}`)))
	out, err := s.Export(ctx)
	require.NoError(t, err)
	golden(t, "export.json", string(out)+"\n")

	other, _ := newState(t)
	require.NoError(t, other.Import(ctx, out))
	again, err := other.Export(ctx)
	require.NoError(t, err)
	require.Equal(t, string(out), string(again), "there and back")
	require.ErrorIs(t, other.Import(ctx, out), ErrNotEmpty)
}

func TestImportTakesEveryShape(t *testing.T) {
	t.Parallel()
	const want = `{"history": [{"type": "a"}], "approvedCommands": ["x"], "tokenInfo": `
	for _, c := range []struct{ name, in, state string }{
		{"exported", `{"state": {"history": [{"type": "a"}], "approvedCommands": ["x", "x"], "tokenInfo": {"total": 1, "prompt": 1, "completion": 0}}, "metadata": {"created": "2025-10-01T14:00:00+02:00"}}`, want + `{"total": 1, "prompt": 1, "completion": 0}}`},
		{"items", `{"state": {"history": {"items": [{"type": "a"}]}, "approvedCommands": ["x"], "tokenInfo": {"total_tokens": 2}}, "metadata": {"created": 1759320000000}}`, want + `{"total_tokens": 2}}`},
		{"conversationHistory and members outside", `{"conversationHistory": [{"type": "a"}], "approvedCommands": ["x"], "tokenInfo": {"total": 3}, "metadata": {"created": 1759320000000.0}, "id": "other"}`, want + `{"total": 3}}`},
		{"runtime is dropped", `{"state": {"history": [{"type": "a"}], "approvedCommands": ["x"], "tokenInfo": {"total": 4}, "executionState": "processing", "currentTurn": {"turnNumber": 2}, "pendingApprovals": {"1": {}}, "toolUsageStats": {}}, "interruptRequested": true, "created": 1759320000000}`, want + `{"total": 4}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := newState(t)
			require.NoError(t, s.Import(t.Context(), json.RawMessage(c.in)))
			out, err := s.Export(t.Context())
			require.NoError(t, err)
			require.Equal(t, `{"id": "s1", "state": `+c.state+
				`, "metadata": {"created": "2025-10-01T12:00:00.000Z", "lastAccessed": "2025-10-01T12:00:00.000Z", "messageCount": 1}}`, string(out))
		})
	}
}

func TestImportRefuses(t *testing.T) {
	t.Parallel()
	s, _ := newState(t)
	for _, bad := range []string{
		``, `[]`, `{"state": []}`, `{"state": {"history": "x"}}`, `{"state": {"history": [1]}}`, `{"conversationHistory": [{}, null]}`,
		`{"approvedCommands": [""]}`, `{"approvedCommands": [" \t"]}`, `{"state": {"history": [{"type": "a"}, {}]}}`, `{"state": {"history": [{"nonsense": 1}]}}`, `{"approvedCommands": [1]}`, `{"approvedCommands": {}}`, `{"tokenInfo": {"total_tokens": -1}}`,
		`{"state": {"tokenInfo": {"prompt": -2}}}`, `{"latestRateLimits": 1}`, `{"metadata": {"created": "noon"}}`, `{"metadata": {"created": 1e300}}`,
	} {
		require.ErrorIs(t, s.Import(t.Context(), json.RawMessage(bad)), ErrInvalid, bad)
	}
	require.NoFileExists(t, path(s, stateFile))
	require.NoFileExists(t, path(s, historyFile))
}
