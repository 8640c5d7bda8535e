// Package agentstate keeps what an agent has to know after a restart, and
// apart from that what it has to forget.
//
// A [State] is persistent: the history of items in state_history.jsonl, an
// append-only log, and approved commands, tokens and rate limits in state.json,
// both in the session's directory of a [sessionstore.Store]. Each operation is
// stored when it returns, under the session's lock, so many processes may share
// a state. A [Runtime] is memory alone: the execution state, turns, tool use,
// errors, the interrupt and pending approvals. A [Session] joins both.
//
// Approvals that must survive a restart stand in pending_approvals.json, each
// bound to one exact call that runs at most once.
//
// Unknown members of the files are kept. A file of a newer version is refused
// and stays as it is. All types may be used by many goroutines.
package agentstate
