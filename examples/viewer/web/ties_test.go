package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/viewer/eventview"
)

// TestEventsOfMessages goes from events to their messages and back, in a short transcript
// and in one of which parts are read.
func TestEventsOfMessages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	msgs := []map[string]any{
		user("What is the time?"),
		{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": "c1", "tool": "clock", "arguments": map[string]any{}}}},
		{"role": "tool", "tool_call_id": "c1", "content": "noon"},
		{"role": "assistant", "content": "Noon."},
	}
	var before []map[string]any
	for range 40 {
		before = append(before, map[string]any{"role": "assistant", "content": strings.Repeat("x", longFrom/30)})
	}
	s.create(one, nil, msgs...)
	s.create(two, nil, append(before, msgs...)...)
	for id, first := range map[string]int{one: 0, two: 40} {
		for _, e := range []eventslog.Event{
			{Name: "session:start"},
			{Name: "prompt:submit", Data: map[string]any{"prompt": "What is the time?"}},
			{Name: "tool:pre", Data: map[string]any{"tool_call_id": "c1"}},
			{Name: "tool:post", Data: map[string]any{"tool_call_id": "c1"}},
			{Name: "tool:pre", Data: map[string]any{"tool_call_id": "another"}},
		} {
			s.logged(id, e)
		}
		for line, want := range map[int]string{1: "null", 2: fmt.Sprint(first), 3: fmt.Sprint(first + 1), 4: fmt.Sprint(first + 1), 5: "null", 99: "null"} {
			require.JSONEq(t, `{"message": `+want+`}`, s.get(200, fmt.Sprintf("%s/event/message?line=%d", api(id), line)), "line %d", line)
		}
		named := func(n int) (names []string) {
			var page eventview.Page
			s.json(fmt.Sprintf("%s/events?message=%d", api(id), n), &page)
			for _, row := range page.Rows {
				names = append(names, row.Event)
			}
			return names
		}
		require.Equal(t, []string{"prompt:submit"}, named(first))
		require.Equal(t, []string{"tool:pre", "tool:post"}, named(first+1))
		require.Empty(t, named(first+3))
		s.logged(id, eventslog.Event{Name: "tool:error", Data: map[string]any{"tool_call_id": "c1"}})
		require.Equal(t, []string{"tool:pre", "tool:post", "tool:error"}, named(first+1))
	}
	s.get(400, api(one)+"/event/message?line=x")
	s.get(400, api(one)+"/events?message=x")
}
