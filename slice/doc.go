// Package slice cuts, checks and repairs conversations: it finds turns, cuts after one of
// them, reports calls of tools and results that do not match, and mends them.
//
// A turn begins with a user message and ends before the next one. Turns are
// counted from 1, as in the Python tools. A call is answered by a message of
// the role tool that names the call's id. Blocks of content count as well:
// tool_use is a call and tool_result is a result. A user message with a
// tool_result begins no turn; it belongs to the turn of its call.
//
// [accept.Check] reports whether a provider would take a conversation when it is
// resumed, and [accept.Fix] makes the smallest change after which it does.
//
// Messages that are not changed keep their exact bytes: they are the same
// [sessionstore.Message] values. No function writes to a slice that it is
// given. All functions on messages take linear time, except that [Rewind] may
// take longer when several calls have one id.
//
// # Stored sessions
//
// [Fork], [PreviewFork], [Trace] and [Inspect] read a session and do not lock
// it. Fork makes a new session, whole or not at all.
//
// [RepairSession], [RewindSession], [RewindSessionTo] and [Undo] change a session as its
// only writer and owner. A repair, and a rewind to no turn that the caller chose, diagnose
// the result first, and write nothing unless it is healthy, or accepted by the providers
// that the repair is for. Each of the four first copies the files that it changes, under
// the names that the Python tools use, see [Backups]. If the store syncs, the copies are
// durable before the transcript changes. So every change can be undone, an undo as well.
// The transcript changes at one instant. The log changes after it.
//
// All functions are safe for concurrent use.
package slice
