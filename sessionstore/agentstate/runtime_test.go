package agentstate

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryTransition(t *testing.T) {
	t.Parallel()
	all := []ExecutionState{Idle, Processing, Executing, Waiting, Interrupted, Failed}
	to := map[ExecutionState][]ExecutionState{
		Idle:        {Processing},
		Processing:  {Executing, Waiting, Interrupted, Failed, Idle},
		Executing:   {Processing, Waiting, Interrupted, Failed, Idle},
		Waiting:     {Processing, Executing, Interrupted, Failed},
		Interrupted: {Idle, Processing},
		Failed:      {Idle, Processing},
	}
	way := map[ExecutionState][]ExecutionState{
		Processing: {Processing}, Executing: {Processing, Executing}, Waiting: {Processing, Waiting},
		Interrupted: {Processing, Interrupted}, Failed: {Processing, Failed},
	}
	for _, from := range all {
		for _, next := range append(all, "other") {
			var r Runtime
			for _, step := range way[from] {
				require.NoError(t, r.To(step, noon))
			}
			require.Equal(t, from, r.State())
			err := r.To(next, noon)
			if !slices.Contains(to[from], next) {
				require.ErrorIs(t, err, ErrTransition, "%s to %s", from, next)
				require.Equal(t, from, r.State())
				continue
			}
			require.NoError(t, err)
			_, has := r.Turn()
			require.Equal(t, next == Processing || next == Executing, has, "%s to %s", from, next)
		}
	}
}

func TestTurnIsSuspendedWhileWaiting(t *testing.T) {
	t.Parallel()
	state, _ := newState(t)
	s := NewSession(state)
	ctx := t.Context()
	require.NoError(t, s.StartTurn())
	require.ErrorIs(t, s.StartTurn(), ErrTransition)
	require.NoError(t, s.AddTokenUsage(ctx, 5))
	require.NoError(t, s.Runtime.To(Executing, noon))
	require.NoError(t, s.RequestApproval("1", json.RawMessage(`{}`)))
	require.NoError(t, s.RequestApproval("2", json.RawMessage(`{}`)))
	require.ErrorIs(t, s.RequestApproval("2", nil), ErrPending)
	require.ErrorIs(t, s.StartTurn(), ErrTransition)
	_, has := s.Runtime.Turn()
	require.False(t, has)
	_, err := s.Resolve(ctx, "1", Rejected)
	require.NoError(t, err)
	require.Equal(t, Waiting, s.Runtime.State(), "one is still pending")
	_, err = s.Resolve(ctx, "2", Approved)
	require.NoError(t, err)
	require.Empty(t, s.Runtime.Pending(), "removed when approved or rejected")
	_, err = s.Resolve(ctx, "2", Approved)
	require.ErrorIs(t, err, ErrNotPending)
	require.Equal(t, Executing, s.Runtime.State())
	turn, has := s.Runtime.Turn()
	require.True(t, has)
	require.Equal(t, Turn{1, noon, 5}, turn)
	require.NoError(t, s.EndTurn())
	require.Equal(t, []Turn{{1, noon, 5}}, s.Runtime.Turns())

	require.NoError(t, s.StartTurn())
	require.NoError(t, s.RequestApproval("3", nil))
	s.Interrupt()
	require.True(t, s.Runtime.InterruptRequested())
	require.Equal(t, Interrupted, s.Runtime.State())
	require.Empty(t, s.Runtime.Pending())
	require.NoError(t, s.StartTurn())
	require.False(t, s.Runtime.InterruptRequested())
	turn, _ = s.Runtime.Turn()
	require.Equal(t, 3, turn.Number)
}

func TestCountsAndErrors(t *testing.T) {
	t.Parallel()
	var r Runtime
	for i := range 120 {
		r.RecordError(ErrorRecord{noon.Add(time.Duration(i)), strconv.Itoa(i), "x"})
		r.RecordTool("bash")
	}
	r.RecordTool("read")
	require.Equal(t, map[string]int{"bash": 120, "read": 1}, r.Tools())
	require.Len(t, r.Errors(), 100)
	require.Equal(t, "20", r.Errors()[0].Error)
	require.Equal(t, "119", r.Errors()[99].Error)
}

func TestResumingForgetsTheRuntime(t *testing.T) {
	t.Parallel()
	state, again := newState(t)
	s := NewSession(state)
	ctx := t.Context()
	require.NoError(t, s.StartTurn())
	require.NoError(t, s.AddItems(ctx, items(`{"type": "a"}`)...))
	require.NoError(t, s.RequestApproval("1", json.RawMessage(`{"rm": 1}`)))
	s.Runtime.RecordTool("bash")
	out, err := s.Export(ctx)
	require.NoError(t, err)
	for _, name := range []string{"executionState", "urn", "bash", "rm", "pending"} {
		require.NotContains(t, string(out), name)
	}
	runtime := s.Runtime
	require.NoError(t, s.Close())
	require.Equal(t, Idle, runtime.State())
	require.Empty(t, runtime.Pending())

	resumed := NewSession(again())
	require.Equal(t, &Runtime{}, resumed.Runtime)
	history, err := resumed.State.History(ctx)
	require.NoError(t, err)
	require.Equal(t, items(`{"type": "a"}`), history)
}
