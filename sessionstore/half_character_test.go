package sessionstore_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestArgumentsAreText reads calls with half a surrogate pair in their arguments:
// what is handed out is text that every reader of JSON takes.
func TestArgumentsAreText(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]string{
		`{"a": "ls \ud83d"}`:         "{\"a\": \"ls \uFFFD\"}",
		`{"\udc00": [1, "x\uD83D"]}`: "{\"\uFFFD\": [1, \"x\uFFFD\"]}",
		`"{\"a\": \"\ud83d\"}"`:      "{\"a\": \"\uFFFD\"}",
		`"{\"a\": \"\\ud83d\"}"`:     "{\"a\": \"\uFFFD\"}",
		`{"a":  "\ud83d\ude80"}`:     `{"a":  "\ud83d\ude80"}`,
		`{"a":  "\\ud83d"}`:          `{"a":  "\\ud83d"}`,
		`"{\"cut\": \"\\ud83d"`:      `{"cut": "\ud83d`,
	} {
		for _, row := range []string{
			`{"role": "assistant", "tool_calls": [{"id": "1", "tool": "f", "arguments": ` + stored + `}]}`,
			`{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": ` + stored + `}}]}`,
			`{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": ` + stored + `}]}`,
		} {
			calls := parse(t, row)[0].ToolCalls()
			require.Len(t, calls, 1)
			require.Equal(t, want, string(calls[0].Arguments), row)
			if stored != `"{\"cut\": \"\\ud83d"` {
				require.True(t, json.Valid(calls[0].Arguments))
			}
		}
	}
}
