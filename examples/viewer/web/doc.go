// Package web serves sessions to a browser on the same machine: pages made by
// html/template, and below /api/ the answers to their scripts.
//
// Every user of a machine reaches its ports, so a request needs the token of the printed
// address, or the cookie of a browser that opened it.
//
// Without [Options] nothing changes a session. With them, the server takes
// phase outputs, messages of a workflow's conversation, forks and a command
// that resumes a session. It takes them by POST, with the token, and from its own
// pages alone. It refuses requests of a page of another origin, also when that
// page's host name leads to this machine. An export is a file with all that a
// session holds; only there secrets can be taken out. All that a session holds
// is data: templates escape it, and scripts put it into text nodes. The
// Markdown of models is rendered and sanitised here; HTML in it is shown as
// source. Calls of tools and their results are folded to a line each.
// Characters that change the direction of text are shown by their codes.
//
// A search and a sum of usage read all sessions, one at a time.
//
// Large data stays on the disk until a page asks for it: prompts, the data of events,
// the ends of long messages, and of a transcript of more than 4 MiB all messages that
// are not in sight. A call of such a transcript is shown with its result if that is at
// most 64 messages away. The first look at a session after another program changed it
// reads a long transcript once, to count messages and turns: half a second for a
// gigabyte.
package web
