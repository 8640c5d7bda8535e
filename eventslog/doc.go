// Package eventslog reads and writes events.jsonl, the audit log that the Amplifier tools
// keep of a session: one event a line, only ever appended to.
//
// In the design of the Python tools this is EventsLog: [Open] is EventsLog(session_dir),
// [Log.Append] is append(event), with the event's name in [Event].Name, and [Log.Close] is
// close().
//
// [Log.Append] writes events as the Python logging hook does. The reading methods go
// through a log of any size line by line. They return the head of an event: its small
// members such as time and name. [Log.Open] returns the bytes of one event.
//
// # Events
//
// A line is an event if the reader of the Python tools, here called the reference, takes it
// for one: it is an object that json.loads accepts. Its members may be in any order, and of
// several with one name the last counts. CR ends a line as LF does. Other lines are
// skipped: damaged ones, and values that are no objects. Names, levels, times and ids
// longer than 64 KiB are cut. A line of more than 1 GiB, in a program of 32 bits 256 MiB,
// counts as damaged: [Log.Refs] reports its number and its size.
//
// The newer tools keep a log of their own in the directory context-intelligence of
// a session. [OpenCapture] opens it. The same methods read it, by its own rules:
// only LF ends a line, NaN is refused, and an event has a name, an object as its
// data or none, and either the session's id or no id. Appending to it is refused.
//
// # Durability
//
// The events of one call are one write at the end of the file, so that no
// writer's line is torn by another's. When [Log.Append] returns nil the events
// are in the file, and survive the end of the process. With Options.Sync they
// are on the disk, and so are the names of the file and of its directory: they
// survive a power cut. Calls that wait at the same time share a write and a
// sync.
//
// A line that another writer or a failed write left unfinished is ended before the next one
// is written, and so are lines that a failed sync may have lost. So only that line is
// damaged. A program that replaces the file while another process appends to it may lose
// the events of that append.
//
// # Changes of history
//
// A [Cursor] holds a hash of the 4 KiB before it. [Log.Heads] and [Log.Follow] compare
// those bytes with the file whenever they read on. They do not notice when only older
// bytes change, in place.
//
// # Memory
//
// A reading method takes the memory of the longest line and 16 MiB, whatever the size
// of the file, and 40 bytes for each member of a line's object. A line that is too long to be
// read is passed over in 16 MiB. The results of [Log.Tail] and [Log.Refs], and a [Counted], are
// not counted in this. Where json.dumps would write a line otherwise, [Log.SliceTo] with a new
// session id also holds the new form, and 32 bytes for each value.
//
// # Concurrency
//
// A Log may be used by many goroutines and a file by many processes. Readers
// take no lock, and no method starts a goroutine.
package eventslog
