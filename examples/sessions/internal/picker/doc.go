// Package picker is the full-screen list of sessions that the tool opens on a
// terminal. The user filters it, shows a session in the pager, and resumes, forks,
// exports, renames or removes it.
//
// [Model] is the whole state, and touches nothing outside of itself. Events go
// in, commands come out, and [Model.View] draws the screen. [Run] joins the model to a
// terminal and carries out the commands. It waits for all that it started.
//
// Text of sessions passes clean or cleanLines before it becomes part of the
// model. So no text that is drawn holds what a terminal would obey.
package picker
