// Quickstart shows the common uses of the library. It lists a project, loads a session,
// appends a turn, saves, and shows that the other bytes are unchanged; then it makes a
// session of its own. On a copy it then interrupts a turn, goes on with it and forks the
// session, while another process watches.
//
//	go run ./examples/quickstart [-dir DIR] [SESSION]
//
// Without -dir it works on a copy of a project that the Python store wrote, in
// a temporary directory that it names. With -dir it works on that sessions
// directory in place. SESSION is the beginning of an id; without it the
// session modified last gets the turn.
package main
