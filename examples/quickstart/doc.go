// Quickstart shows the common uses of the library on a copy of a project that the Python
// store wrote. It lists the sessions, appends a turn to one, shows that no other byte
// changed, and forks that session. Then it makes a session, interrupts a turn and continues
// it, while another process watches the directory.
//
//	go run ./examples/quickstart
//
// The copy stays in a temporary directory, which the program names.
package main
