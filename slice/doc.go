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
// [RepairSession], [RewindSession], [RewindSessionTo], [RenameSession], [Undo] and [Redo]
// change a session as its only writer, and but for a rename as its owner. A repair, and a
// rewind to no turn that the caller chose, diagnose the result first, and write nothing unless
// it is healthy, or accepted by the providers that the repair is for. Each of the six first
// copies the files that it changes, see [Backups]; repairs and rewinds name the copies as the
// Python tools do. If the store syncs, the copies are durable before the file changes. The
// transcript changes at one instant. A log that gets shorter changes after it, one that gets
// longer before it.
//
// # Undo and redo
//
// Undo goes back through the changes of a session, one with each call, and Redo goes forward
// through what was undone. Where a session stands follows from its copies and its files alone:
//
//	               undo                     redo
//	repair, rewind, salvage, and a sync that took lines away
//	               the transcript from      the transcript from
//	               before it, and the log   before the undo
//	rename         the former name          the name again
//	undo with the name of a copy that undo and redo would not bring
//	               a change, as all above   as all above
//	undo or redo of an older program, or of the Python tools
//	               a change, as all above   as all above
//	a change after an undo
//	               takes it back            ends
//	an append or another program's text after a change
//	               fails with ErrWentOn;    there is none
//	               Force takes both back
//	another program's text, in place after a pull
//	               takes both back, and     there is none
//	               keeps it as pre-undo-step
//	… after an undo or redo
//	               as after a change        ends, as far as it is of that file
//	killed before the file changed
//	               the call counts as never made: its copy is the same as the file
//	killed after the file changed, before the log
//	               the call counts as made; the log has more than it should
//	killed after a longer log came back, before the file changed
//	               the call counts as never made; the log has more than it should
//	two processes  one after the other, each takes a step
//	trash          copies go to the trash and come back with the session
//	fork           has no copies: the parent's changes are not its own
//	delete, DropBackups
//	               there is nothing to undo or to redo any more
//
// Copies stay until [DropBackups] removes them, those that redo has ended for, too.
//
// All functions are safe for concurrent use.
package slice
