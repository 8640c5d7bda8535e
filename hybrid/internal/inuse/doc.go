// Package inuse lets the programs of one device tell each other which sessions
// they use, so that none changes a session's files under another one. A program
// here is one open store; a process may have several.
//
// Each program has two files in a directory that all of them share: one that it
// keeps locked while it lives, and one that names sessions, a line of JSON for
// each time that it used one. They are two because a locked file cannot be read
// by others on Windows.
//
// A session is in use for [Window] after a program last wrote it or said that
// it is about to. The kernel drops the lock of a program that is killed: then
// its names no longer stand for use, but they still tell that a program of this
// library wrote those sessions. The first program that meets such files takes
// the names over and removes the files.
//
// Naming a session costs one short write that is not synced, and only when the
// program did not name it in the last two seconds. A kill loses no name, a power
// cut may lose all of them; after it, no program lives. The files are bounded:
// a program that used more than 4096 sessions at once names all sessions there
// are, in one line.
package inuse
