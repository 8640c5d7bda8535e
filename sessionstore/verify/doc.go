// Package verify checks the files of stored sessions, those of the Amplifier tools and those
// of this library, and changes nothing.
//
// [Check] checks one session and [CheckAll] all sessions of a store. Both yield a [Finding]
// for each fault, while they read: its [Kind], the file and the line. A sound session has no
// finding.
//
// These files are checked:
//
//	transcript.jsonl, metadata.json, and their backups
//	events.jsonl, also in context-intelligence/
//	phase_outputs.jsonl, session_conversation.jsonl, state_history.jsonl
//	state.json, pending_approvals.json, session-state.json, checkpoint.json
//
// A check takes no lock. It holds the transcript of one session in memory, and
// of all other files one line or one JSON document. No finding has content of a
// session.
package verify
