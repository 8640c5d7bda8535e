// Package inuse records which sessions the programs of one device use, so that no program
// changes a session's files under another one. A program here is one open store; a
// process may have several.
//
// Each program has two files in a directory that all of them share: a file that it keeps
// locked while it lives, and a file that names sessions, a line of JSON for each use. They
// are two because other programs cannot read a locked file on Windows.
//
// A session is in use for [Window] after a program last wrote it or announced a write.
// The kernel drops the lock of a program that is killed: then its names no longer mean
// use, but they still show that a program of this library wrote those sessions. The first
// program that meets such files takes the names over and removes the files.
//
// Naming a session costs one short write that is not synced, and only when the program
// did not name it in the last two seconds. A kill loses no name, a power cut may lose all
// of them; after it, no program lives. The files are bounded: a program that used more
// than 4096 sessions at once names all existing sessions, in one line.
package inuse
