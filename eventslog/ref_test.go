package eventslog

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRefs reads what ties events to messages, from a log of the newest tools
// and from one that Append wrote.
func TestRefs(t *testing.T) {
	t.Parallel()
	l, err := OpenCapture(filepath.Join(t.TempDir(), "s"), nil)
	require.NoError(t, err)
	refs, wrong, err := l.Refs(t.Context())
	require.NoError(t, err, "a log that is missing is empty")
	require.Empty(t, refs)
	require.Empty(t, wrong)
	put(t, l, `{"event": "prompt:submit", "data": {"session_id": "s", "prompt": "hi"}}`+"\n"+
		`{"event": "llm:response", "data": {"purpose": "naming"}}`+"\n{secret\n"+
		`{"event": "tool:pre", "session_id": "s", "data": {"tool_call_id": "c", "message_id": "m"}}`+"\n")
	refs, wrong, err = l.Refs(t.Context())
	require.NoError(t, err)
	require.Equal(t, []Ref{
		{Line: 1, Event: "prompt:submit", SessionID: "s", Prompt: sha256.Sum256([]byte("hi"))},
		{Line: 2, Event: "llm:response", Auxiliary: true},
		{Line: 4, Event: "tool:pre", SessionID: "s", CallID: "c", MessageID: "m"},
	}, refs)
	require.Equal(t, []RowError{{Code: "unscoped_event", Line: 2}, {Code: "invalid_event", Line: 3}}, wrong)
	require.EqualError(t, wrong[1], "line 3: invalid_event")

	own, err := Open(filepath.Join(t.TempDir(), "own"), nil)
	require.NoError(t, err)
	require.NoError(t, own.Append(t.Context(), Event{Name: "tool:post", Data: map[string]any{"tool_call_id": "c"}}))
	refs, wrong, err = own.Refs(t.Context())
	require.NoError(t, err)
	require.Equal(t, []Ref{{Line: 1, Event: "tool:post", SessionID: "own", CallID: "c"}}, refs)
	require.Empty(t, wrong)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = own.Refs(ended)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, own.Close())
}

// TestRefsHoldNoRow reads rows of a megabyte each: memory holds one of them.
func TestRefsHoldNoRow(t *testing.T) {
	l, err := OpenCapture(filepath.Join(t.TempDir(), "s"), nil)
	require.NoError(t, err)
	row := `{"event": "llm:response", "session_id": "s", "data": {"raw": "` + strings.Repeat("x", 1<<20) + `"}}` + "\n"
	put(t, l, strings.Repeat(row, 64))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	refs, _, err := l.Refs(t.Context())
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Len(t, refs, 64)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
	require.NoError(t, l.Close())
}
