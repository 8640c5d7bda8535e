// Package conversation turns the messages of a session into a form for people, for programs
// that show sessions: a panel, a chat, a report. A [View] knows the turns, shows the result
// of a tool with the call that it answers, marks messages that a program wrote in the
// user's name, and cuts long texts to the limits of the caller. sessionstore/archive and
// examples/viewer show sessions with it. [Hidden] lists what stood before a compaction.
//
// The package is pure: it opens no files and asks no clock. Texts are the texts of the
// messages, unescaped: a program that shows them in HTML or on a terminal escapes them.
package conversation
