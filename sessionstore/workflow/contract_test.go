package workflow

import "testing"

// TestContract runs the lists of tests and tables in the original contracts by
// the names that they have there.
func TestContract(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T){
		"unit/PhaseOutputPayload serialization with new fields":       TestJSON,
		"unit/emit_phase_output_with_prompts emits correct event":     TestFullFlow,
		"unit/save_phase_output COALESCE logic preserves prompts":     TestPreservation,
		"unit/get_phase_outputs returns new fields":                   TestOldLog,
		"unit/add_session_message validates role":                     TestConversationErrors,
		"unit/get_session_conversation filters by phase_id":           TestConversation,
		"unit/reconstruct_session_context sliding window at boundary": TestSlidingWindow,
		"unit/resume_research_session error cases":                    TestResumeErrors,
		"integration/Full flow: emit, save, get (with prompts)":       TestFullFlow,
		"integration/Resume flow: pause, resume, continue":            TestResumeFlow,
		"integration/Conversation: add messages, retrieve, resume":    testConversationAndResume,
		"interface control/3.5 Serialization Contract":                TestJSON,
		"interface control/6.4 COALESCE Preservation Logic":           TestPreservation,
		"interface control/7.3 Idempotency Contract":                  TestOldLog,
		"interface control/9.4 Error Contract":                        TestConversationErrors,
		"interface control/12.3 Sliding Window Contract":              TestSlidingWindow,
		"interface control/13.4 Error Contract":                       TestResumeErrors,
		"interface control/14 types":                                  TestJSON,
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
	if err != nil || len(r.Context.History) != 2 || r.Context.History[1].Content != "output" {
		t.Fatalf("resumed with %+v, %v", r.Context, err)
	}
	if got := contents(conversation(t, l)); len(got) != 2 || got[1] != "answer" {
		t.Fatalf("conversation is %q", got)
	}
}
