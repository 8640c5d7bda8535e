// Package workflow keeps the prompts and outputs of the phases of a workflow beside a
// session, in files of this library's own format, and resumes the workflow from them.
//
// A workflow is a [Manifest]: phases in order. For each phase a session has one record,
// with the prompts that went to the model and the output that came back; besides, it has a
// conversation. Both are in the session's directory as append-only logs of one JSON object
// a line, phase_outputs.jsonl and session_conversation.jsonl, and go with the session when
// it is deleted. A fork has neither.
//
// In the documents that describe it, a [PhaseOutput] is PhaseOutputPayload, a [PhaseRecord]
// PhaseOutputRecord, a [ResumeResult] ResumeSessionResult with its SessionContext, and the
// JSON of [Workflow.Session] a ResearchSession. The commands are save_phase_output
// ([Workflow.SavePhaseOutput]), get_phase_outputs ([Workflow.PhaseOutputs]),
// add_session_message ([Workflow.AddMessage]), get_session_conversation
// ([Workflow.Conversation]), resume_research_session ([Workflow.Resume]),
// reconstruct_session_context ([ReconstructContext]) and emit_phase_output_with_prompts
// ([Workflow.Emit]).
//
// A call's acknowledged data is on disk as [sessionstore.Durability] of the store says:
// with Relaxed it survives a killed process, otherwise a power cut as well. A write costs
// its line, however long the log is. When another process wrote in between, its lines are
// read. Reading reads the whole log, a line at a time; [Workflow.Phases] reads only new lines,
// without prompts.
//
// A last line that was not written whole was never acknowledged: readers pass
// over it and the next writer removes it. Any other line that is no record
// stays, and is reported as [sessionstore.ErrCorrupt] beside all records that
// could be read. In text, bytes that are not UTF-8 are stored as U+FFFD.
//
// A [Workflow] may be used by many goroutines, and many processes may write one
// log: writers hold the lock of the session, for at most 10 s
// ([sessionstore.ErrLocked]), and none writes a session that is being moved
// ([sessionstore.ErrFenced]). Readers take no lock.
package workflow
