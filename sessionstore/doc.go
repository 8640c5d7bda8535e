// Package sessionstore reads and writes agent sessions in the Amplifier
// layout, byte for byte as the Python tools do:
//
//	~/.amplifier/projects/<project>/sessions/<id>/
//	    transcript.jsonl   the conversation, one message a line
//	    metadata.json      what is known about the session
//	    config.md          the configuration it began with
//	    events.jsonl       the audit log, see package eventslog
//
// A [Store] is one sessions directory. [Store.Save] and [Store.Load] are the
// pair that most programs need; a [Message] keeps the exact bytes of its line
// and gives views of them on demand.
//
// # Guarantees
//
// Whoever opens a file meets the old content or the new one, whole, at every
// instant, also after a killed process or a power cut. When a call that
// writes returns nil, what it wrote is on the disk (see [Durability]). What
// cannot be read is reported as [ErrCorrupt] together with all that can, and
// a later save keeps the damaged bytes aside. Nothing outside the session's
// directory is touched, also through symlinks.
//
// An error after the writing began may leave the new state in place.
//
// # Concurrency
//
// A Store may be used by many goroutines, and many processes may open one
// directory. Calls that write one session wait for each other, also between
// processes, by the lock file that the newer Python tools hold; they honour
// those tools' append marker, ownership lock and transfer fence too. Calls on
// different sessions do not wait for each other, and readers never do.
//
// A transcript is appended to by extending the file that is its backup, one
// save behind, and swapping the names of both. So the file named
// transcript.jsonl is never written, and its backup is the state before.
package sessionstore
