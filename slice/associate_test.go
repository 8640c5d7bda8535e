package slice_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func ExampleAssociate() {
	call, _ := sessionstore.ParseMessage([]byte(`{"role": "assistant", "content": "", "tool_calls": [{"id": "call-1"}]}`))
	question, _ := sessionstore.Text("user", "How long is it?", time.Time{})
	msgs := []sessionstore.Message{question, call}
	for i, a := range slice.Associate(msgs, []eventslog.Ref{
		{Event: "tool:pre", SessionID: "s", CallID: "call-1"},
		{Event: "llm:response", SessionID: "s"},
	}) {
		fmt.Println(i, a.Message, a.Turn, a.Method)
	}
	// Output:
	// 0 1 0 tool_call_id
	// 1 -1 -1
}

// TestAssociateStored ties the events of a log that this library wrote to the
// messages that they are about.
func TestAssociateStored(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s")
	log, err := eventslog.Open(dir, nil)
	require.NoError(t, err)
	for _, e := range []eventslog.Event{
		{Name: "prompt:submit", Data: map[string]any{"prompt": "one"}},
		{Name: "tool:pre", Data: map[string]any{"tool_call_id": "c"}},
		{Name: "tool:post", Data: map[string]any{"tool_call_id": "c"}},
		{Name: "prompt:submit", Data: map[string]any{"prompt": "one"}},
	} {
		require.NoError(t, log.Append(t.Context(), e))
	}
	refs, wrong, err := log.Refs(t.Context())
	require.NoError(t, err)
	require.Empty(t, wrong)
	require.NoError(t, log.Close())
	msgs := parse(t,
		`{"role": "user", "content": "one"}`,
		`{"role": "assistant", "content": [{"type": "tool_use", "id": "c"}]}`,
		`{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]}`,
		`{"role": "user", "content": "one"}`)
	require.Equal(t, []slice.Association{
		{0, 0, 0, slice.ByPrompt}, {1, 0, 0, slice.ByToolCallID}, {2, 0, 0, slice.ByToolCallID}, {3, 1, 3, slice.ByPrompt},
	}, slice.Associate(msgs, refs))
	require.Equal(t, slice.Association{-1, -1, -1, slice.Unassociated}, slice.Associate(msgs, refs[:1])[0], "two messages have the text")
	require.Equal(t, []slice.Association{{-1, -1, -1, slice.Unassociated}}, slice.Associate(nil, refs[:1]))
}
