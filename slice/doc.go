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
// Messages that are not changed keep their exact bytes: they are the same
// [sessionstore.Message] values. Slices that are handed in are never written
// to. All functions take linear time; only [Rewind] of a transcript that
// uses one id for several calls may take more.
// They are safe for concurrent use.
package slice
