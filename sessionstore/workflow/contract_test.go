package workflow

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// TestContract runs the lists of tests and tables in the original contracts by
// the names that they have there, and each line of ours.
func TestContract(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T){
		"plan 7/PhaseOutputPayload serialization with new fields":                 TestJSON,
		"plan 7/emit_phase_output_with_prompts emits correct event":               TestFullFlow,
		"plan 7/save_phase_output COALESCE logic preserves prompts":               TestPreservation,
		"plan 7/get_phase_outputs returns new fields":                             TestOldLog,
		"plan 7/add_session_message validates role":                               TestConversationErrors,
		"plan 7/get_session_conversation filters by phase_id":                     TestConversation,
		"plan 7/reconstruct_session_context sliding window at boundary":           TestSlidingWindow,
		"plan 7/resume_research_session error cases":                              TestResumeErrors,
		"plan 7/Full flow: emit, save, get (with prompts)":                        TestFullFlow,
		"plan 7/Resume flow: pause, resume, continue":                             TestResumeFlow,
		"plan 7/Conversation: add messages, retrieve, resume":                     testConversationAndResume,
		"interface control 3.5/Serialization Contract":                            TestSerialization,
		"interface control 6.4/COALESCE Preservation Logic":                       TestPreservation,
		"interface control 7.3/Idempotency Contract":                              TestOldLog,
		"interface control 9.4/Invalid role, Session not found":                   TestConversationErrors,
		"interface control 12.3/Sliding Window Contract":                          TestSlidingWindow,
		"interface control 13.4/Error Contract":                                   TestResumeErrors,
		"interface control 14/TypeScript Types":                                   TestJSON,
		"files/whole lines, torn tails repaired":                                  TestTorn,
		"files/synced when durable":                                               TestNamesOfOthers,
		"files/times are RFC 3339 UTC with milliseconds":                          TestLines,
		"files/a fork copies none of them":                                        testFork,
		"phase outputs/optional members are null":                                 TestLines,
		"phase outputs/unknown status is refused, kept when read":                 TestUnknownStatusesAndRoles,
		"phase outputs/upsert table":                                              TestUpsertTable,
		"phase outputs/id, session and its errors":                                TestPhaseErrors,
		"phase outputs/listed by created_at, then id":                             TestPhaseOrder,
		"emit/prompts with running only":                                          TestFullFlow,
		"emit/published when saving failed; null session is published, not saved": TestEmitUnsaved,
		"emit/subscription is in place, ordered, closed":                          TestWaiting,
		"emit/missed":                                                               TestSlowSubscriber,
		"old logs/read as nulls":                                                    TestOldLog,
		"conversation/ids are never reused":                                         TestIDs,
		"conversation/ordered by created_at, then id":                               TestOrder,
		"conversation/deleted with the session":                                     TestDeleted,
		"manifests/the first is the default, kept":                                  TestStart,
		"manifests/with the first output alone":                                     TestOnlyTheFirst,
		"manifests/a whole save with an older copy does not overwrite; SetStatus":   TestSetStatus,
		"resume/a phase that the manifest does not know is named; empty next phase": TestResumeFlow,
		"resume/unknown phase":                                                      TestUnknownPhase,
		"resume/the last completed by created_at, then id":                          testLastCompleted,
		"reconstruct/completed with user_input, missing output is empty":            TestReconstructChoice,
		"json contract/golden":                                                      TestJSON,
	} {
		t.Run(name, test)
	}
}

// testConversationAndResume keeps a conversation beside the phases, whose
// history is of the phases alone.
func testConversationAndResume(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, `{}`, research)
	add(t, l, new("phase_1"), userRole, "question")
	save(t, l, PhaseOutput{PhaseID: "phase_1", Status: running, UserInput: new("input")})
	save(t, l, PhaseOutput{PhaseID: "phase_1", Status: completed, Output: new("output")})
	add(t, l, new("phase_1"), assistantRole, "answer")
	r, err := l.Resume(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, []ChatMessage{{"user", "input"}, {"assistant", "output"}}, r.Context.History)
	require.Equal(t, []string{"question", "answer"}, contents(conversation(t, l)))
}

// testFork forks a session that has all files of this package.
func testFork(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	m, err := sessionstore.NewMessage(map[string]string{"role": "user", "content": "hi"})
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "s", m))
	save(t, l, PhaseOutput{PhaseID: "phase_1", Status: running})
	add(t, l, nil, userRole, "x")
	forked, err := slice.Fork(t.Context(), st, "s", nil)
	require.NoError(t, err)
	for _, name := range []string{phaseFile, conversationFile} {
		require.FileExists(t, filepath.Join(st.Dir(), "s", name))
		_, err := os.Stat(filepath.Join(st.Dir(), forked.ID, name))
		require.ErrorIs(t, err, os.ErrNotExist)
	}
}

// testLastCompleted has phases whose order in the log is not that of time.
func testLastCompleted(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	writeFile(t, st, phaseFile, `{"id": 3, "phase_id": "phase_1", "status": "completed", "created_at": "2026-01-01T00:00:02.000Z"}`+"\n"+
		`{"id": 2, "phase_id": "phase_2", "status": "completed", "created_at": "2026-01-01T00:00:02.000Z"}`+"\n"+
		`{"id": 9, "phase_id": "phase_3", "status": "completed", "created_at": "2026-01-01T00:00:01.000Z"}`+"\n"+
		`{"id": 10, "phase_id": "phase_3", "status": "failed", "created_at": "2026-01-01T00:00:03.000Z"}`+"\n")
	r, err := l.Resume(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, ResumeContext{[]ChatMessage{}, "phase_1", 3, 2}, r.Context)
	require.Equal(t, "phase_2", r.NextPhaseID)
}
