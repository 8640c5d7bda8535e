package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestResumeFlow pauses a workflow after its first phase, resumes and ends it.
func TestResumeFlow(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	for _, p := range []PhaseOutput{
		{PhaseID: "phase_1", Status: running, SystemPrompt: new("p"), UserInput: new("i1")},
		{PhaseID: "phase_1", Status: completed, Output: new("o1")},
		{PhaseID: "phase_2", Status: running, UserInput: new("i2")},
	} {
		save(t, l, p)
	}
	l = New(st, Manifest{"newer", []string{"x"}}, research)
	r, err := l.Resume(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, "research", r.Session.Text("manifest_name"))
	require.Equal(t, "phase_2", r.NextPhaseID)
	require.Equal(t, ResumeContext{[]ChatMessage{{"user", "i1"}, {"assistant", "o1"}}, "phase_1", 3, 1}, r.Context)

	save(t, l, PhaseOutput{PhaseID: "phase_2", Status: completed, Output: new("o2")})
	save(t, l, PhaseOutput{PhaseID: "phase_3", Status: completed})
	r, err = l.Resume(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, r.NextPhaseID, "the workflow is done")
	require.Equal(t, ResumeContext{[]ChatMessage{{"user", "i1"}, {"assistant", "o1"}, {"user", "i2"}, {"assistant", "o2"}}, "phase_3", 3, 3}, r.Context)
}

// The JSON of a session has the id by which it is resumed, also where metadata.json says
// another one, and nothing of it is written.
func TestSessionHasItsID(t *testing.T) {
	t.Parallel()
	for _, metadata := range []string{`{"session_id": "other"}`, `{"id": "other"}`, `{"id": null, "name": "n"}`} {
		l, st := newLog(t, metadata, research)
		save(t, l, PhaseOutput{PhaseID: "phase_1", Status: completed, Output: new("o1")})
		before := readFile(t, st, "metadata.json")
		r, err := l.Resume(t.Context(), "s")
		require.NoError(t, err)
		md, err := l.Session(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, "s", md.Text("id"))
		var shown struct {
			Session struct {
				ID       string `json:"id"`
				Status   string `json:"status"`
				Manifest string `json:"manifest_name"`
			} `json:"session"`
		}
		raw, err := json.Marshal(r)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &shown))
		require.Equal(t, "s", shown.Session.ID)
		require.Equal(t, "in_progress", shown.Session.Status)
		require.Equal(t, "research", shown.Session.Manifest)
		require.Equal(t, before, readFile(t, st, "metadata.json"))
		_, err = l.Session(t.Context(), "gone")
		require.ErrorContains(t, err, "Session gone not found: ")
	}
	require.Equal(t, 25, DefaultMaxPairs)
}

// TestResumeErrors are the errors of the original contract, and ours.
func TestResumeErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, metadata, phase, want string }{
		{"completed", `{"status": "completed"}`, "phase_1", "Session s already completed"},
		{"failed", `{"status": "failed"}`, "phase_1", "Session s failed and cannot be resumed"},
		{"invalid status", `{"status": "paused"}`, "phase_1", "Session s has invalid status: paused"},
		{"empty status", `{"status": ""}`, "phase_1", "Session s has invalid status: "},
		{"status of a wrong type", `{"status": 5}`, "phase_1", "Session s has invalid status: 5"},
		{"status of many values", `{"status": {"ghp_hunter2": "x"}}`, "phase_1", "Session s has invalid status: an object or array"},
		{"no phases", `{}`, "", "Session s has no completed phases to resume from"},
		{"unknown phase", `{"status": "in_progress"}`, "phase_9", `resume session "s": phase "phase_9" is not in manifest "research"`},
		{"unknown manifest", `{"manifest_name": "other"}`, "phase_1", `resume session "s": manifest "other" is unknown`},
		{"no error", `{}`, "phase_1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, _ := newLog(t, tt.metadata, research)
			save(t, l, PhaseOutput{PhaseID: "phase_2", Status: running})
			save(t, l, PhaseOutput{PhaseID: "phase_3", Status: failed})
			if tt.phase != "" {
				save(t, l, PhaseOutput{PhaseID: tt.phase, Status: completed})
			}
			_, err := l.Resume(t.Context(), "s")
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tt.want)
		})
	}
	l, _ := newLog(t, `{}`)
	_, err := l.Resume(t.Context(), "none")
	require.EqualError(t, err, "Session none not found: Session 'none' not found")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	save(t, l, PhaseOutput{PhaseID: "phase_1", Status: completed})
	_, err = l.Resume(t.Context(), "s")
	require.EqualError(t, err, `resume session "s": no manifest is known`)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.Resume(cancelled, "s")
	require.ErrorIs(t, err, context.Canceled)
}

func TestResumeDamaged(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	save(t, l, PhaseOutput{PhaseID: "phase_1", Status: completed})
	writeFile(t, st, phaseFile, "?\n"+readFile(t, st, phaseFile)+`{"torn`)
	r, err := l.Resume(t.Context(), "s")
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)
	require.Equal(t, "phase_2", r.NextPhaseID)
	writeFile(t, st, "metadata.json", "{")
	writeFile(t, st, "metadata.json.backup", "")
	_, err = l.Resume(t.Context(), "s")
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)
	require.Regexp(t, "^Session s not found: ", err.Error())
	save(t, l, PhaseOutput{PhaseID: "phase_2", Status: running})
	require.Equal(t, "{", readFile(t, st, "metadata.json"), "an output is no reason to touch it")
}

// recordsOf returns n completed phases.
func recordsOf(n int) []PhaseRecord {
	records := make([]PhaseRecord, n)
	for i := range records {
		records[i] = PhaseRecord{Status: completed, UserInput: new("i" + strconv.Itoa(i)), Output: new("o" + strconv.Itoa(i))}
	}
	return records
}

// TestSlidingWindow is the table of the original contract, with its edges.
func TestSlidingWindow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ pairs, limit, want int }{
		{10, 25, 20},
		{25, 25, 50},
		{50, 25, 50},
		{0, 25, 0},
		{26, 25, 50},
		{24, 25, 48},
		{50, 0, 50},
		{50, -1, 50},
		{50, 50, 100},
		{3, 1, 2},
	} {
		t.Run(fmt.Sprintf("pairs=%d limit=%d", tt.pairs, tt.limit), func(t *testing.T) {
			t.Parallel()
			messages := ReconstructContext(recordsOf(tt.pairs), tt.limit)
			require.Len(t, messages, tt.want)
			require.NotNil(t, messages)
			for i, m := range messages {
				n := strconv.Itoa(tt.pairs - tt.want/2 + i/2)
				require.Equal(t, []ChatMessage{{"user", "i" + n}, {"assistant", "o" + n}}[i%2], m)
			}
		})
	}
}

func TestReconstructChoice(t *testing.T) {
	t.Parallel()
	messages := ReconstructContext([]PhaseRecord{
		{Status: running, UserInput: new("running")},
		{Status: failed, UserInput: new("failed"), Output: new("x")},
		{Status: completed, SystemPrompt: new("no input"), Output: new("x")},
		{Status: completed, UserInput: new("")},
	}, 0)
	require.Equal(t, []ChatMessage{{"user", ""}, {"assistant", ""}}, messages, "a missing output is empty")
}
