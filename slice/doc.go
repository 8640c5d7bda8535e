// Package slice cuts, checks and repairs conversations: it finds turns, cuts
// after one of them, tells where calls of tools and their results do not
// match, and mends that.
//
// A turn begins with a user message and ends before the next one. Turns are
// counted from 1, as by the Python tools. A call is answered by a message of
// the role tool with its id. Calls and results as blocks of content, tool_use
// and tool_result, count too; a user message that holds a tool_result belongs
// to the turn of its call.
//
// [Accepts] tells whether a provider would take a conversation when it is
// resumed, and [Mend] makes the smallest change after which it does.
//
// Messages that are not changed keep their exact bytes: they are the same
// [sessionstore.Message] values. Slices that are handed in are never written
// to. All functions on messages take linear time; only [Rewind] of a transcript
// that uses one id for several calls may take more.
//
// # Stored sessions
//
// [Fork], [PreviewFork], [Trace] and [Inspect] read a session and take no lock
// of it. Fork makes a new session, whole or not at all.
//
// [RepairSession], [RewindSession], [RewindSessionTo] and [Undo] change one, as
// its only writer and owner. What they are about to write is diagnosed first,
// and nothing is written unless it is healthy. What stood there is kept under
// the names that the Python tools use, see [Backups], durably before the
// transcript changes; so every change can be undone, an undo too. The
// transcript changes at one instant, and the log after it.
//
// All functions are safe for concurrent use.
package slice
