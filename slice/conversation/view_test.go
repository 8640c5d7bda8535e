package conversation

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// brief are the limits of a list of messages.
var brief = Limits{Text: 4000, Tool: 1200}

// parse returns the view of a transcript, a line for each message.
func parse(t *testing.T, lines ...string) *View {
	t.Helper()
	var msgs []sessionstore.Message
	for _, line := range lines {
		m, err := sessionstore.ParseMessage([]byte(line))
		require.NoError(t, err)
		msgs = append(msgs, m)
	}
	c, err := New(msgs)
	require.NoError(t, err)
	return c
}

const (
	user   = `{"role": "user", "content": "ask"}`
	answer = `{"role": "assistant", "content": "told"}`
	callA  = `{"role": "assistant", "content": "", "tool_calls": [{"id": "a", "tool": "read", "arguments": {"p": 1}}]}`
	callAB = `{"role": "assistant", "content": [{"type": "text", "text": "both"}, {"type": "tool_use", "id": "a", "name": "read", "input": {}}], "tool_calls": [{"id": "a", "tool": "read", "arguments": {}}, {"id": "b", "function": {"name": "write", "arguments": "{}"}}]}`
	resA   = `{"role": "tool", "tool_call_id": "a", "content": "A"}`
	resB   = `{"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "B"}, {"type": "image", "data": "x"}]}`
)

func TestPairs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		lines []string
		want  []Message
	}{
		{"results stand with their calls", []string{user, callAB, resA, resB, answer}, []Message{
			{N: 0, Role: "user", Turn: 1, Starts: true, Text: &Text{"ask", 3, false}},
			{N: 1, Role: "assistant", Turn: 1, Text: &Text{"both", 4, false}, Calls: []Call{
				{ID: "a", Name: "read", Arguments: Text{"{}", 2, false}, Result: &Result{N: 2, ID: "a", Text: Text{"A", 1, false}}},
				{ID: "b", Name: "write", Arguments: Text{"{}", 2, false}, Result: &Result{N: 3, ID: "b", Text: Text{"B", 1, false}, Files: []File{{N: 3, Label: "image, 0 B", block: 1, text: []byte("x")}}}},
			}},
			{N: 2, Role: "tool", Turn: 1, Elsewhere: true},
			{N: 3, Role: "tool", Turn: 1, Elsewhere: true},
			{N: 4, Role: "assistant", Turn: 1, Text: &Text{"told", 4, false}},
		}},
		{"an orphan", []string{user, callA}, []Message{
			{N: 0, Role: "user", Turn: 1, Starts: true, Text: &Text{"ask", 3, false}},
			{N: 1, Role: "assistant", Turn: 1, Calls: []Call{{ID: "a", Name: "read", Arguments: Text{`{"p": 1}`, 8, false}, Orphan: true}}},
		}},
		{"a result out of place", []string{user, callA, user, resA}, []Message{
			{N: 0, Role: "user", Turn: 1, Starts: true, Text: &Text{"ask", 3, false}},
			{N: 1, Role: "assistant", Turn: 1, Calls: []Call{{ID: "a", Name: "read", Arguments: Text{`{"p": 1}`, 8, false}, Misplaced: true, Result: &Result{N: 3, ID: "a", Text: Text{"A", 1, false}}}}},
			{N: 2, Role: "user", Turn: 2, Starts: true, Text: &Text{"ask", 3, false}},
			{N: 3, Role: "tool", Turn: 2, Elsewhere: true},
		}},
		{"results without a call", []string{resA, callA, resA, resA}, []Message{
			{N: 0, Role: "tool", Results: []Result{{N: 0, ID: "a", Text: Text{"A", 1, false}}}},
			{N: 1, Role: "assistant", Calls: []Call{{ID: "a", Name: "read", Arguments: Text{`{"p": 1}`, 8, false}, Result: &Result{N: 2, ID: "a", Text: Text{"A", 1, false}}}}},
			{N: 2, Role: "tool", Elsewhere: true},
			{N: 3, Role: "tool", Results: []Result{{N: 3, ID: "a", Text: Text{"A", 1, false}}}},
		}},
		{"blocks", []string{`{"role": "user", "content": "<system-reminder>x</system-reminder>"}`, callA, `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": {"x": 1}}]}`}, []Message{
			{N: 0, Role: "user", Turn: 1, Starts: true, Injected: true, Text: &Text{"<system-reminder>x</system-reminder>", 36, false}},
			{N: 1, Role: "assistant", Turn: 1, Calls: []Call{{ID: "a", Name: "read", Arguments: Text{`{"p": 1}`, 8, false}, Result: &Result{N: 2, ID: "a", Text: Text{`{"x": 1}`, 8, false}}}}},
			{N: 2, Role: "user", Turn: 1, Elsewhere: true},
		}},
		{"oddities", []string{`{"role": 5}`, `{"role": "assistant", "content": {"x": NaN}, "thinking_text": "hm", "timestamp": "2026-03-01T10:00:00+01:00"}`, `{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "image", "x": 1}], "tool_calls": [{"tool": "t"}, 7]}`}, []Message{
			{N: 0},
			{N: 1, Role: "assistant", Time: "2026-03-01T09:00:00Z", Text: &Text{`{"x": NaN}`, 10, false}, Thinking: &Text{"hm", 2, false}},
			{N: 2, Role: "assistant", Text: &Text{`{"type": "image", "x": 1}`, 25, false}, Thinking: &Text{"hm", 2, false}, Calls: []Call{{Name: "t", Orphan: true}}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, parse(t, tt.lines...).Messages(0, 99, brief))
		})
	}
}

func TestZeroMessage(t *testing.T) {
	t.Parallel()
	_, err := New([]sessionstore.Message{{}})
	require.ErrorIs(t, err, sessionstore.ErrUnstorable)
	empty, err := New(nil)
	require.NoError(t, err)
	require.Zero(t, empty.Len())
	require.Empty(t, empty.Starts())
}

func TestTurns(t *testing.T) {
	t.Parallel()
	c := parse(t, answer, user, answer, user, user)
	require.Equal(t, 3, c.Turns)
	require.Equal(t, []int{1, 3, 4}, c.Starts())
	require.Equal(t, 5, c.Len())
}

func TestChangedSince(t *testing.T) {
	t.Parallel()
	c := parse(t, user, callAB, resA, answer, resB)
	require.Equal(t, 1, c.ChangedSince(3), "the call that the last result answers")
	require.Equal(t, 1, c.ChangedSince(4))
	require.Equal(t, 5, c.ChangedSince(5))
	require.Equal(t, 5, c.ChangedSince(50))
	require.Equal(t, 0, c.ChangedSince(0))
	require.Equal(t, 0, c.ChangedSince(-3))
}

func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("é", 5000)
	raw, err := json.Marshal(map[string]any{"role": "assistant", "content": text, "tool_calls": []any{map[string]any{"id": "a", "tool": "t", "arguments": text}}})
	require.NoError(t, err)
	c := parse(t, string(raw))
	m := c.Messages(0, 1, brief)[0]
	require.Equal(t, Text{text[:brief.Text], len(text), true}, *m.Text)
	require.True(t, m.Calls[0].Arguments.Cut)
	whole := c.Messages(0, 1, Limits{})[0]
	require.Equal(t, Text{text, len(text), false}, *whole.Text)
	require.False(t, whole.Calls[0].Arguments.Cut)
	require.Equal(t, "a"+strings.Repeat("é", 49), cut("a"+strings.Repeat("é", 500), 100).Text)
	for _, none := range [][2]int{{7, 3}, {-7, -3}, {1, 2}, {0, 0}} {
		require.Empty(t, c.Messages(none[0], none[1], brief))
	}
	require.Len(t, c.Messages(-7, 99, brief), 1)
}
