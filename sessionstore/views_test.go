package sessionstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestContent(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, content, want string }{
		{"string", `"a\u00e4\ud83e\udd8a"`, "aä🦊"},
		{"blocks", `[{"type":"text","text":"a"},{"type":"tool_use","text":"no"},{"type":"text","text":"b"}]`, "a\nb"},
		{"no text", `[{"type":"text"},{"type":"image"}]`, ""},
		{"blocks that are none", `[1,"x",null,[{"type":"text","text":"deep"}]]`, ""},
		{"null", `null`, ""},
		{"number", `1`, ""},
		{"object", `{"text":"x"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, parse(t, `{"role":"user","content":`+tt.content+`}`)[0].Content())
		})
	}
}

func TestThinking(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, members string
		want          []string
	}{
		{"blocks", `"content":[{"type":"thinking","thinking":"a\u00e4"},{"type":"text","text":"no"},{"type":"thinking","thinking":"b","signature":"x"}]`, []string{"aä", "b"}},
		{"beside a string", `"content":"no","thinking_text":"a"`, []string{"a"}},
		{"both", `"thinking_text":"b","content":[{"type":"thinking","thinking":"a"}]`, []string{"a", "b"}},
		{"an empty thought", `"thinking_text":""`, []string{""}},
		{"beside calls", `"content":[{"type":"thinking","thinking":"a"},{"type":"tool_use","id":"i","name":"n","input":{}}]`, []string{"a"}},
		{"encrypted", `"content":[{"type":"redacted_thinking","data":"x","thinking":"no"}]`, nil},
		{"no texts", `"content":[{"type":"thinking","thinking":1},{"type":"thinking"},"thinking"],"thinking_text":null`, nil},
		{"content is no list", `"content":{"type":"thinking","thinking":"no"}`, nil},
		{"none", `"content":"no"`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, parse(t, `{"role":"assistant",`+tt.members+`}`)[0].Thinking())
		})
	}
}

func TestTimestamp(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name, members string
		want          time.Time
	}{
		{"timestamp", `"timestamp":"2025-01-31T12:00:00.000Z"`, at},
		{"ts", `"ts":"2025-01-31T13:00:00+01:00"`, at},
		{"metadata", `"metadata":{"timestamp":"2025-01-31T12:00:00.000+00:00"}`, at},
		{"without offset", `"timestamp":"2025-01-31T12:00:00"`, at},
		{"timestamp before ts", `"ts":"2024-01-01T00:00:00Z","timestamp":"2025-01-31T12:00:00Z"`, at},
		{"unreadable timestamp", `"timestamp":"yesterday","ts":"2025-01-31T12:00:00Z"`, at},
		{"number", `"timestamp":1738324800`, time.Time{}},
		{"empty", `"timestamp":""`, time.Time{}},
		{"metadata is a list", `"metadata":["timestamp"]`, time.Time{}},
		{"none", `"content":"2025-01-31"`, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := parse(t, `{"role":"user",`+tt.members+`}`)[0].Timestamp()
			require.Equal(t, !tt.want.IsZero(), ok)
			require.True(t, tt.want.Equal(got), got)
		})
	}
}

func TestToolCalls(t *testing.T) {
	t.Parallel()
	type calls = []sessionstore.ToolCall
	raw := func(s string) []byte { return []byte(s) }
	tests := []struct {
		name, line string
		want       calls
	}{
		{
			"function", `{"tool_calls":[{"id":"1","type":"function","function":{"name":"bash","arguments":"{\"a\": 1}"}}]}`,
			calls{{ID: "1", Name: "bash", Arguments: raw(`{"a": 1}`)}},
		},
		{
			"function with an object", `{"tool_calls":[{"id":"1","function":{"name":"bash","arguments":{"a":1.0}}}]}`,
			calls{{ID: "1", Name: "bash", Arguments: raw(`{"a":1.0}`)}},
		},
		{
			"tool", `{"tool_calls":[{"id":"1","tool":"bash","arguments":{"a":1}}]}`,
			calls{{ID: "1", Name: "bash", Arguments: raw(`{"a":1}`)}},
		},
		{"name", `{"tool_calls":[{"id":"1","name":"bash"}]}`, calls{{ID: "1", Name: "bash"}}},
		{
			"tool_use", `{"content":[{"type":"text"},{"type":"tool_use","id":"1","name":"bash","input":{"a":1}}]}`,
			calls{{ID: "1", Name: "bash", Arguments: raw(`{"a":1}`)}},
		},
		{
			"both, in order", `{"content":[{"type":"tool_use","id":"3"}],"tool_calls":[{"id":"1"},{"id":"2"}]}`,
			calls{{ID: "1"}, {ID: "2"}, {ID: "3"}},
		},
		{
			"one call in both", `{"content":[{"type":"tool_use","id":"2","name":"b"},{"type":"tool_use","id":"1","name":"bash","input":{"a":1}}],"tool_calls":[{"id":"1","tool":"bash","arguments":{"a":1}}]}`,
			calls{{ID: "1", Name: "bash", Arguments: raw(`{"a":1}`)}, {ID: "2", Name: "b"}},
		},
		{"no id in both", `{"content":[{"type":"tool_use","name":"a"}],"tool_calls":[{"tool":"a"}]}`, calls{{Name: "a"}, {Name: "a"}}},
		{"nothing in it", `{"tool_calls":[{}]}`, calls{{}}},
		{"no id", `{"tool_calls":[{"id":7,"tool":null}]}`, calls{{}}},
		{"entries that are no objects", `{"tool_calls":[1,null,"x",[]],"content":[1,null]}`, nil},
		{"null", `{"tool_calls":null}`, nil},
		{"object", `{"tool_calls":{"id":"1"}}`, nil},
		{"none", `{"role":"assistant"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, parse(t, tt.line)[0].ToolCalls())
		})
	}
	require.Equal(t, "1", parse(t, `{"role":"tool","tool_call_id":"1"}`)[0].ToolCallID())
	require.Empty(t, parse(t, `{"role":"tool","tool_call_id":1}`)[0].ToolCallID())
}

func TestZeroMessageHasNothing(t *testing.T) {
	t.Parallel()
	var m sessionstore.Message
	require.Empty(t, m.Role())
	require.Empty(t, m.Content())
	require.Empty(t, m.ToolCallID())
	require.Nil(t, m.ToolCalls())
	require.Empty(t, m.AppendTo(nil))
	_, ok := m.Lookup("role")
	require.False(t, ok)
	_, ok = m.Timestamp()
	require.False(t, ok)
}
