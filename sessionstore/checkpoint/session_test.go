package checkpoint

import (
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestLife(t *testing.T) {
	t.Parallel()
	ctx, st, output := t.Context(), newStore(t), t.TempDir()
	s, err := st.Create(ctx, output, Setup{Chapters: 4, Context: Context{ResearchGoals: "find out"}})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(output, primaryName), s.Dir())
	require.Regexp(t, `^session-20260205-120000-[0-9]+$`, s.State().ID())
	require.Equal(t, Initialized, s.State().Status())
	require.Equal(t, "2.1", s.State().Version())
	require.Equal(t, noon, s.State().LastUpdated())
	require.Empty(t, validate(s.State().raw))

	_, err = st.Create(ctx, output, Setup{})
	require.ErrorIs(t, err, fs.ErrExist)

	require.NoError(t, s.SetContext(ctx, Context{DatasetDescription: "mice"}))
	require.Equal(t, "find out", s.State().ResearchGoals(), "what is not given stays")
	require.Equal(t, Context{DatasetDescription: "mice", ResearchGoals: "find out"}, s.State().Context())
	require.NoError(t, s.Checkpoint(ctx, 0, nil))
	require.Equal(t, InProgress, s.State().Status(), "the first checkpoint")
	require.NoError(t, s.Checkpoint(ctx, 1, map[string]any{"research_structure": "a.md"}))
	require.NoError(t, s.Checkpoint(ctx, 1, map[string]any{"research_structure": "b.md"}))
	foreign(t, s, "outputs", "own", "1")
	require.Equal(t, 2, s.State().CurrentPhase())
	require.Equal(t, []int{0, 1}, s.State().CompletedPhases(), "a phase is there once")
	require.Equal(t, []Output{{"research_structure", "b.md"}}, s.State().Outputs(1))
	require.NoError(t, s.Checkpoint(ctx, 7, nil))
	require.Equal(t, 7, s.State().CurrentPhase())
	require.Equal(t, Completed, s.State().Status())

	require.NoError(t, s.Approve(ctx, 3, Approval{Approved: true}))
	foreign(t, s, "user_approvals", "phase_0", "{}")
	require.NoError(t, s.Rollback(ctx, 1))
	require.Equal(t, InProgress, s.State().Status(), "a completed one goes on")
	require.Equal(t, []int{0}, s.State().CompletedPhases())
	require.Equal(t, 1, s.State().CurrentPhase())
	require.Equal(t, []Output{{"research_structure", ""}}, s.State().Outputs(1))
	require.Contains(t, onDisk(t, s), `"own": 1`)
	require.Contains(t, onDisk(t, s), `"phase_0"`)
	require.NotContains(t, onDisk(t, s), `"phase_3"`)
	require.NoError(t, s.Rollback(ctx, 0))
	require.Empty(t, s.State().CompletedPhases(), "no phase -1")

	again, err := st.Open(s.Dir())
	require.NoError(t, err)
	require.Equal(t, s.State().Raw(), again.State().Raw())
}

// The number of chapters and the user's context are set and read at any time, also in
// states that lack their objects, and what else is in these stays.
func TestChaptersAndContext(t *testing.T) {
	t.Parallel()
	ctx, st := t.Context(), newStore(t)
	s, err := st.Create(ctx, t.TempDir(), Setup{})
	require.NoError(t, err)
	require.Zero(t, s.State().Chapters())
	require.Zero(t, s.State().Context())
	foreign(t, s, "config", "own", "1")
	require.NoError(t, s.SetChapters(ctx, 4))
	require.NoError(t, s.SetChapters(ctx, 7))
	require.Equal(t, 7, s.State().Chapters())
	require.NotEmpty(t, s.State().OutputDirectory())
	require.Contains(t, onDisk(t, s), `"own": 1`)
	for _, n := range []int{-1, 0, 2, 8, math.MaxInt} {
		require.ErrorAs(t, s.SetChapters(ctx, n), new(*InvalidError))
	}
	require.Equal(t, 7, s.State().Chapters())
	full := Context{"50,000 cells", "find markers", map[string]string{"genes": "a, b", "é\"": ""}}
	require.NoError(t, s.SetContext(ctx, full))
	require.Equal(t, full, s.State().Context())
	again, err := st.Open(s.Dir())
	require.NoError(t, err)
	require.Equal(t, 7, again.State().Chapters())
	require.Equal(t, full, again.State().Context())
	again.State().Context().BiologicalContext["genes"] = "changed"
	require.Equal(t, full, again.State().Context(), "each call returns its own map")

	bare := put(t, st, t.TempDir(), `{"version": "1.0", "session_id": "session-20260101-000000-1", "created_at": "2026-02-06T10:00:00Z", "status": "initialized", "current_phase": 0, "config": null, "user_context": {"biological_context": null}}`)
	require.Zero(t, bare.State().Chapters())
	require.Zero(t, bare.State().Context())
	require.NoError(t, bare.SetChapters(ctx, 3))
	require.Equal(t, 3, bare.State().Chapters())
	require.Zero(t, State{}.Chapters())
	require.Zero(t, State{}.Context())
}

func TestRefusedChangesWriteNothing(t *testing.T) {
	t.Parallel()
	ctx, st := t.Context(), newStore(t)
	s := put(t, st, t.TempDir(), example(t))
	require.ErrorIs(t, s.Checkpoint(ctx, 8, nil), ErrInvalidPhase)
	require.ErrorIs(t, s.Rollback(ctx, -1), ErrInvalidPhase)
	require.ErrorIs(t, s.Approve(ctx, 9, Approval{}), ErrInvalidPhase)
	require.ErrorIs(t, s.Approve(ctx, 5, Approval{}), ErrInvalidPhase, "has no gate")
	require.ErrorIs(t, s.Checkpoint(ctx, 4, map[string]any{"notebook_reviews": "x"}), ErrInvalidOutput)
	require.ErrorContains(t, s.SetStatus(ctx, "done"), "set status: invalid state: /status: unknown value")
	require.ErrorContains(t, s.Checkpoint(ctx, 4, map[string]any{"notebook_review": 1}), "/outputs/notebook_review: want string")
	require.ErrorContains(t, s.LogAgent(ctx, AgentRun{Status: "ok"}), "/agent_execution_log/2/status")
	require.Error(t, s.Decide(ctx, 5))
	gone, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, s.SetStatus(gone, Aborted), context.Canceled)
	require.Equal(t, example(t), onDisk(t, s))
}

func TestCreateFallsBack(t *testing.T) {
	t.Parallel()
	output := t.TempDir()
	require.NoError(t, os.Chmod(output, 0o500))
	if os.WriteFile(filepath.Join(output, "x"), nil, 0o600) == nil { // permissions do not bind this user
		output = "/sys" // there nobody may make a directory
		testenv.Need(t, runtime.GOOS == "linux", "there is no directory that this user may not write")
	}
	s, err := newStore(t).Create(t.Context(), output, Setup{})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(filepath.Base(s.Dir()), fallbackPrefix+"20260205-120000-"))
}

func TestOldVersionsAndLocalTimes(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.0", "2.0", "2.1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			raw := strings.Replace(example(t), `"2.0"`, `"`+version+`"`, 1)
			raw = strings.ReplaceAll(raw, "2026-02-04T14:32:15Z", "2026-02-04T14:32:15.25")
			raw = strings.Replace(raw, `"errors": []`, `"errors": [], "ours": {"big": 12345678901234567890123, "f": 1.50}`, 1)
			s := put(t, newStore(t), t.TempDir(), raw)
			require.Equal(t, []Violation{{"/agent_execution_log/0/timestamp", "time without zone"}}, validate(s.State().raw).Warnings)
			require.NoError(t, s.SetStatus(t.Context(), Interrupted))
			require.Empty(t, validate(s.State().raw))
			require.Equal(t, "2.1", s.State().Version())
			require.Contains(t, onDisk(t, s), time.Date(2026, 2, 4, 14, 32, 15, 25e7, time.Local).Format(time.RFC3339Nano))
			require.Contains(t, onDisk(t, s), "12345678901234567890123")
			backup, err := os.ReadFile(filepath.Join(s.Dir(), backupFile))
			require.NoError(t, err)
			require.Equal(t, raw, string(backup))
		})
	}
}

func TestOtherVersionsAreLeftAlone(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	s := put(t, st, t.TempDir(), example(t))
	future := strings.Replace(example(t), `"2.0"`, `"3.0"`, 1)
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir(), stateFile), []byte(future), 0o600))
	_, err := st.Open(s.Dir())
	require.ErrorIs(t, err, ErrVersion)
	require.ErrorIs(t, s.SetStatus(t.Context(), Aborted), ErrVersion)
	require.Equal(t, future, onDisk(t, s))
}

func TestDamagedStateComesFromTheBackup(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{"torn": example(t)[:300], "empty": "", "binary": "\xff\x00"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStore(t)
			s := put(t, st, t.TempDir(), example(t))
			require.NoError(t, s.SetStatus(t.Context(), Interrupted))
			path := filepath.Join(s.Dir(), stateFile)
			require.NoError(t, os.WriteFile(path, []byte(damage), 0o600))
			again, err := st.Open(s.Dir())
			require.NoError(t, err)
			require.True(t, again.State().Recovered)
			require.Equal(t, InProgress, again.State().Status())
			require.NoError(t, again.SetStatus(t.Context(), Aborted))
			aside, err := filepath.Glob(path + ".damaged-*")
			require.NoError(t, err)
			require.Len(t, aside, 1)
			kept, err := os.ReadFile(aside[0])
			require.NoError(t, err)
			require.Equal(t, damage, string(kept))
		})
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := put(t, newStore(t), t.TempDir(), example(t))
	require.NoError(t, s.Decide(ctx, map[string]any{"type": "approval_gate", "phase": 3, "decision": "approved", "details": nil}))
	require.NoError(t, s.Decide(ctx, struct{}{}))
	feedback := "more <b>"
	require.NoError(t, s.Approve(ctx, 4, Approval{Feedback: &feedback, ChangesRequested: []string{"x"}}))
	require.NoError(t, s.LogError(ctx, ErrorEntry{Phase: 4, Agent: "a", Type: "timeout", Message: "m", RetryCount: 1}))
	require.NoError(t, s.LogAgent(ctx, AgentRun{Agent: "a", Phase: 4, DurationSeconds: 1.5, Status: "timeout"}))
	golden(t, "records.json", onDisk(t, s))
}

// TestRecordsAreRead reads the records of testdata/records.json, and others as
// another tool may write them.
func TestRecordsAreRead(t *testing.T) {
	t.Parallel()
	at, feedback := time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC), "more"
	s := put(t, newStore(t), t.TempDir(), example(t))
	before := s.State()
	said := Approval{Feedback: &feedback, ChangesRequested: []string{"x", "y"}, Time: at}
	failure := ErrorEntry{Time: at, Phase: 4, Agent: "a", Type: "timeout", Message: "m", RetryCount: 1, Resolution: "retried"}
	run := AgentRun{Time: at, Agent: "a", Phase: 4, DurationSeconds: 1.5, Status: "timeout", OutputFiles: []string{"f"}}
	require.NoError(t, s.Approve(t.Context(), 4, said))
	require.NoError(t, s.LogError(t.Context(), failure))
	require.NoError(t, s.LogAgent(t.Context(), run))
	require.NoError(t, s.Decide(t.Context(), map[string]any{"decision": "go on"}))
	s, err := s.parent.Open(s.Dir())
	require.NoError(t, err)

	require.Equal(t, said, s.State().Approvals()[4])
	require.Equal(t, append(before.Errors(), failure), s.State().Errors())
	require.Equal(t, append(before.AgentRuns(), run), s.State().AgentRuns())
	decisions := s.State().Decisions()
	require.Len(t, decisions, len(before.Decisions())+1)
	last := decisions[len(decisions)-1]
	require.Equal(t, stamp(last.Time), stamp(s.State().LastUpdated()))
	require.Contains(t, string(last.Value), `"decision": "go on"`)

	odd := State{raw: []byte(`{"user_approvals": {"phase_0": {"approved": true}, "phase_x": {}, "phase_3": null, "phase_6": {"feedback": null}},
		"user_decisions": "none", "errors": [{"phase": 3.0, "retry_count": 1e300, "agent": null}, null], "agent_execution_log": null}`)}
	require.Equal(t, map[int]Approval{0: {Approved: true, ChangesRequested: []string{}}, 6: {ChangesRequested: []string{}}}, odd.Approvals())
	require.Empty(t, odd.Decisions())
	require.Equal(t, []ErrorEntry{{Phase: 3, RetryCount: math.MaxInt32}}, odd.Errors())
	require.Empty(t, odd.AgentRuns())
	require.Empty(t, State{}.Approvals())
}

func TestSymlinkIsNoSession(t *testing.T) {
	t.Parallel()
	st, output := newStore(t), t.TempDir()
	s := put(t, st, t.TempDir(), example(t))
	err := os.Symlink(s.Dir(), filepath.Join(output, primaryName))
	testenv.Need(t, err == nil, "no symlinks here")
	_, err = st.Open(filepath.Join(output, primaryName))
	require.ErrorIs(t, err, ErrNotADirectory)
	_, err = st.Create(t.Context(), output, Setup{})
	require.ErrorIs(t, err, ErrNotADirectory)
	found, err := st.FindResumable(t.Context(), output, 0)
	require.NoError(t, err)
	require.Empty(t, found.Runs)
	require.Len(t, found.Unreadable, 1)
}
