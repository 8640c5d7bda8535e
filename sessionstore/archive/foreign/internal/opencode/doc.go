// Package opencode is the format of opencode: the database of its sessions, their rows as lines
// of JSON, and the making of such lines.
//
// opencode keeps all sessions in one SQLite database. This package reads it without a trace (see
// read), and gives the rest of an import each session as a file of lines, see rows.lines: a line
// of the session, a line of each message with its parts, and behind the lines of an answer a line
// of each result of its calls. Members that opencode changes later on, beside the conversation,
// are left out, so a session that goes on begins with the lines that it had.
package opencode
