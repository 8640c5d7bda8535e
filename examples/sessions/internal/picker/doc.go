// Package picker is the full-screen list of sessions that the tool opens on a
// terminal. The user filters it, shows a session in the pager, and resumes, forks,
// exports, renames or removes it.
//
// [Model] is the whole state, as a model of Bubble Tea, and touches nothing outside of
// itself: what is to be done there it asks of its actions. [Run] joins it to a terminal and
// to actions on stored sessions, and waits for all of those that began.
//
// Text of sessions passes clean or cleanLines before it becomes part of the
// model. So no text that is drawn holds what a terminal would obey.
package picker
