// Package conversation makes of the messages of a session what a page shows of
// them: turns are marked, the results of tools stand with their calls, and long
// texts are cut. It is pure: no files, no clock.
package conversation
