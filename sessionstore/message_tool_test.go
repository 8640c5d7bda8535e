package sessionstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestToolMessages compares with lines in the reference's order of members.
func TestToolMessages(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 18, 9, 0, 42, 754_000_000, time.UTC)
	calls, err := sessionstore.ToolCallMessage("", at,
		sessionstore.ToolCall{ID: "call_01", Name: "read_file", Arguments: []byte(`{"path":"é.csv","limit":5,"none":null}`)},
		sessionstore.ToolCall{ID: "call_02", Name: "today"})
	require.NoError(t, err)
	require.Equal(t, `{"role": "assistant", "content": "", "tool_calls": [`+
		`{"id": "call_01", "tool": "read_file", "arguments": {"path": "é.csv", "limit": 5}}, `+
		`{"id": "call_02", "tool": "today", "arguments": {}}], `+
		`"metadata": {"timestamp": "2026-11-18T09:00:42.754+00:00"}}`, string(calls.AppendTo(nil)))

	read := calls.ToolCalls()
	require.Len(t, read, 2)
	require.Equal(t, sessionstore.ToolCall{ID: "call_02", Name: "today", Arguments: []byte("{}")}, read[1])

	result, err := sessionstore.ToolResult("call_01", "read_file", "a\nb", at)
	require.NoError(t, err)
	require.Equal(t, `{"role": "tool", "name": "read_file", "tool_call_id": "call_01", "content": "a\nb", `+
		`"metadata": {"timestamp": "2026-11-18T09:00:42.754+00:00"}}`, string(result.AppendTo(nil)))
}

func TestToolMessagesRefuse(t *testing.T) {
	t.Parallel()
	ok := sessionstore.ToolCall{ID: "1", Name: "bash", Arguments: []byte(`{"command": "secret"}`)}
	for name, calls := range map[string][]sessionstore.ToolCall{
		"no calls":          nil,
		"its id is empty":   {ok, {Name: "bash"}},
		"has no name":       {{ID: "2"}},
		"stands twice":      {ok, ok},
		"not a JSON object": {{ID: "2", Name: "bash", Arguments: []byte(`"secret"`)}},
		"call 2":            {ok, {ID: "2", Name: "bash", Arguments: []byte(`{"secret":`)}},
		"tool_calls[0]":     {{ID: "2", Name: "bash", Arguments: []byte(`{"a": [NaN, "secret"]}`)}},
	} {
		_, err := sessionstore.ToolCallMessage("secret", time.Now(), calls...)
		require.ErrorIs(t, err, sessionstore.ErrUnstorable, name)
		require.ErrorContains(t, err, name)
		require.NotContains(t, err.Error(), `"secret"`)
	}
	for _, pair := range [][2]string{{"", "bash"}, {"1", ""}} {
		_, err := sessionstore.ToolResult(pair[0], pair[1], "", time.Now())
		require.ErrorIs(t, err, sessionstore.ErrUnstorable)
	}
}
