// Package workflow keeps what the phases of a workflow said beside a session,
// and resumes the workflow from it.
//
// A workflow is a [Manifest]: phases in order. For each phase a session has
// one record, with the prompts that went to the model and the output that came
// back; besides, it has a conversation. Both stand in the session's directory
// as append-only logs of one JSON object a line, phase_outputs.jsonl and
// session_conversation.jsonl, and go with the session when it is deleted.
//
// What a call has acknowledged is on disk, whatever the store's durability. A
// last line that was not written whole was never acknowledged: readers pass
// over it and the next writer removes it. Any other line that is no record
// stays, and is reported as [sessionstore.ErrCorrupt] beside all records that
// could be read. Writers hold the lock of the session, so that many processes
// may write one log. Text that is not UTF-8 is stored with U+FFFD in the place
// of the bytes that are not.
//
// A [Log] may be used by many goroutines.
package workflow
