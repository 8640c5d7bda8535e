package workflow

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// drain returns what a subscription was sent, and closes it.
func drain(t *testing.T, s *Subscription) []PhaseOutput {
	t.Helper()
	require.NoError(t, s.Close())
	var all []PhaseOutput
	for p := range s.Payloads() {
		all = append(all, p)
	}
	return all
}

// TestFullFlow emits, saves and gets, with prompts.
func TestFullFlow(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, `{}`, research)
	one, two := l.Subscribe(), l.Subscribe()
	begun := PhaseOutput{SessionID: new("s"), PhaseID: "phase_1", PhaseName: "Research", Status: running, SystemPrompt: new("You are..."), UserInput: new("Analyze...")}
	require.NoError(t, l.Emit(t.Context(), begun))
	late := l.Subscribe()
	ended := PhaseOutput{SessionID: new("s"), PhaseID: "phase_1", PhaseName: "Research", Status: completed, SystemPrompt: new("other"), UserInput: new("other"), Output: new("The analysis shows...")}
	require.NoError(t, l.Emit(t.Context(), ended))
	require.Equal(t, "other", *ended.SystemPrompt, "the agent's own is not changed")
	ended.SystemPrompt, ended.UserInput = nil, nil
	require.Equal(t, []PhaseOutput{begun, ended}, drain(t, one))
	require.Equal(t, []PhaseOutput{begun, ended}, drain(t, two))
	require.Equal(t, []PhaseOutput{ended}, drain(t, late))
	r := outputs(t, l)[0]
	require.Equal(t, []string{"other", "other", "The analysis shows..."}, []string{*r.SystemPrompt, *r.UserInput, *r.Output}, "saved whole")
}

// TestResumeAfterOneEmit emits a phase once, when it has ended: the record has its
// prompt and input, and so does the history of the next phase.
func TestResumeAfterOneEmit(t *testing.T) {
	t.Parallel()
	for _, status := range []string{completed, failed} {
		l, _ := newLog(t, `{}`, research)
		s := l.Subscribe()
		ended := PhaseOutput{SessionID: new("s"), PhaseID: "phase_1", Status: status, SystemPrompt: new("You are..."), UserInput: new("Analyze..."), Output: new("It shows...")}
		require.NoError(t, l.Emit(t.Context(), ended))
		r := outputs(t, l)[0]
		require.Equal(t, []string{"You are...", "Analyze...", "It shows..."}, []string{*r.SystemPrompt, *r.UserInput, *r.Output})
		require.Nil(t, drain(t, s)[0].SystemPrompt)
		require.Equal(t, "Analyze...", *ended.UserInput)
		if status == completed {
			resumed, err := l.Resume(t.Context(), "s")
			require.NoError(t, err)
			require.Len(t, resumed.Context.History, 2)
			require.Equal(t, "Analyze...", resumed.Context.History[0].Content)
		}
	}
}

func TestEmitUnsaved(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, `{}`, research)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	s := l.Subscribe()
	require.NoError(t, l.Emit(t.Context(), PhaseOutput{PhaseID: "null", Status: running}))
	require.ErrorIs(t, l.Emit(t.Context(), PhaseOutput{SessionID: new("none"), PhaseID: "none", Status: running}), sessionstore.ErrNotFound)
	require.ErrorIs(t, l.Emit(cancelled, PhaseOutput{SessionID: new("s"), PhaseID: "cancelled", Status: running}), context.Canceled)
	require.EqualError(t, l.Emit(t.Context(), PhaseOutput{SessionID: new("s"), PhaseID: "bad", Status: "x"}),
		"Invalid status: x. Must be 'running', 'completed', or 'failed'")
	require.Error(t, l.Emit(t.Context(), PhaseOutput{PhaseID: "null and bad", Status: "x"}))
	var phases []string
	for _, p := range drain(t, s) {
		phases = append(phases, p.PhaseID)
	}
	require.Equal(t, []string{"null", "none", "cancelled"}, phases, "what is invalid is not published")
	require.Empty(t, outputs(t, l))
}

// TestSubscribersShareNothing changes what was received and what was given.
func TestSubscribersShareNothing(t *testing.T) {
	t.Parallel()
	l := New(nil)
	one, two := l.Subscribe(), l.Subscribe()
	output := "given"
	require.NoError(t, l.Emit(t.Context(), PhaseOutput{Status: completed, Output: &output}))
	output = "changed"
	*drain(t, one)[0].Output = "changed"
	require.Equal(t, "given", *drain(t, two)[0].Output)
}

func TestSlowSubscriber(t *testing.T) {
	t.Parallel()
	l := New(nil)
	s := l.Subscribe()
	const lost = 10
	for i := range queueLimit + lost {
		require.NoError(t, l.Emit(t.Context(), PhaseOutput{PhaseID: strconv.Itoa(i), Status: completed}))
	}
	require.Equal(t, lost, s.Missed())
	all := drain(t, s)
	require.Len(t, all, queueLimit)
	for i, p := range all {
		require.Equal(t, strconv.Itoa(lost+i), p.PhaseID)
	}
	require.NoError(t, l.Emit(t.Context(), PhaseOutput{Status: completed}))
	require.Equal(t, lost, s.Missed(), "after Close nothing comes")
	require.NoError(t, s.Close())
}

// TestWaiting has a consumer that waits, breaks off, and goes on until Close.
func TestWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(nil)
		s := l.Subscribe()
		var got []string
		go func() {
			for p := range s.Payloads() {
				got = append(got, p.PhaseID)
				if p.PhaseID == "b" {
					break
				}
			}
			for p := range s.Payloads() {
				got = append(got, p.PhaseID)
			}
			got = append(got, "end")
		}()
		for _, phase := range []string{"a", "b", "c"} {
			synctest.Wait()
			require.NoError(t, l.Emit(t.Context(), PhaseOutput{PhaseID: phase, Status: completed}))
		}
		synctest.Wait()
		require.NoError(t, s.Close())
		synctest.Wait()
		require.Equal(t, []string{"a", "b", "c", "end"}, got)
	})
}
