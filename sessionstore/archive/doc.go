// Package archive exports sessions for other machines, programs and people, and imports
// such exports into a store.
//
// [Write] has four formats. [Tar] holds all files of any number of sessions, byte for byte
// and with their times. [JSONL] is the transcript of one session unchanged, one message a
// line, and nothing else. [Markdown] and [HTML] show one session to people: its
// conversation, then the phases of its workflow and the messages about that workflow. In
// both, no text of the session becomes HTML. [WriteFile] makes or replaces a file, whole or
// not at all.
//
// [Read] makes sessions of a tar archive, which gzip may have compressed, or of
// the lines of one transcript; [ReadDir] makes one of a session's directory. A
// session appears in the store whole or not at all, also after a killed process,
// and never takes the place of another one. Foreign archives are safe to read: a
// link, a name that leads out of the session, and an archive that is larger than
// the options allow are refused.
//
// # Approvals
//
// An archive brings no approval of package agentstate, whoever made it and under whatever
// id it comes: a call that was approved waits for a verdict again, and commands that were
// approved for good are dropped. [Imported] counts both. Rejections, and what ran, stay, as
// does a file that is so damaged that agentstate refuses it. Approvals of package
// checkpoint are records of what a user said, and stay, too.
//
// # Ids
//
// An archive chooses the ids of its sessions, and an id becomes the name of a directory and an
// argument of commands. A session keeps an id that begins with an ASCII letter or digit,
// has only these and "._-" after it, is at most 240 bytes long, and is no name that Windows
// takes for a device or changes. Any other session gets a fresh id, which its metadata name,
// and [Imported] tells both. An id that the caller names is judged as by
// [sessionstore.Store.Save].
//
// # Memory
//
// Archives of any size take a few MiB: Tar and JSONL are streams in both directions, with
// one line in memory where lines are looked at. Read and ReadDir hold the metadata and the
// approvals and state of an agent as a whole, and refuse such a file of more than 256 MiB.
// Markdown and HTML hold the transcript of
// their session, the messages about its workflow, and one of its phases at a time.
//
// # Files left out
//
// Files of writers are neither archived nor imported: names that begin with a dot, the
// marker of an append, and the fence of a transfer. Write takes no lock. Each file is
// whole, as it was at one instant, but the event log may be a moment ahead of the
// transcript.
//
// [sessionstore.Store.Save]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#Store.Save
package archive
