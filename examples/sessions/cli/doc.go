// Package cli is the command-line tool, apart from the process it runs in.
//
// A command is a struct whose fields are its arguments and flags, read by kong,
// with a method Run; [commands] lists them. What a person reads goes through
// package screen. What a program reads is JSON as Python's json.dumps writes it
// with an indent of two, or, for tables in a pipe, lines of tab-separated cells.
//
// Exit codes are the Python tools': 0 when all is well, 1 for a broken session
// or an error, 2 for wrong arguments, and 130 when a signal ended it.
package cli
