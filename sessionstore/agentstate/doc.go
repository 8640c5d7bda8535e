// Package agentstate keeps what an agent has to know after a restart, and
// apart from that what it has to forget.
//
// A [State] is persistent: the history of items in state_history.jsonl, an
// append-only log, and approved commands, tokens, rate limits and values under
// names of the caller's in state.json, both in the session's directory of a
// [sessionstore.Store]. Each operation is stored when it returns, under the
// session's lock, so many processes may share a state and none loses another's
// update. It is durable as [sessionstore.Durability] of the store says, unless
// [Options] ask for less. Recording items costs these and state.json, however
// long the history is, unless another process wrote in between: then the history
// is read once.
//
// A [Runtime] is memory alone: the execution state, turns, tool use, errors,
// the interrupt and pending approvals. A [Session] joins both.
//
// Approvals that must survive a restart stand in pending_approvals.json, each
// bound to one exact call that runs at most once, whatever is killed meanwhile.
//
// Unknown members of the files are kept. A file of another version is refused
// and stays as it is ([ErrVersion]), and so does one with a member of a wrong
// type when that member is asked for ([ErrDamaged]). A state.json that cannot
// be read is put aside at the next write, and its backup stands in. All types
// may be used by many goroutines.
package agentstate
