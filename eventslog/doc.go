// Package eventslog reads and writes events.jsonl, the audit log of a
// session: one event a line, only ever appended to.
//
// [Log.Append] writes events as the Python logging hook does. The reading
// methods go through a log of any size, with lines of any length: what they
// need of a line is its head, the small members such as time and name, and
// those are found in a stream. [Log.Open] gives the bytes of one event.
//
// # What counts as an event
//
// What the reference's reader takes for one: an object that json.loads
// accepts, wherever its members stand, the last of several of one name. CR
// ends a line as LF does. Other lines are skipped, damaged ones and values
// that are no objects too. Names, levels, times and ids longer than 64 KiB
// are cut.
//
// The log of newer tools, in the directory context-intelligence of a session,
// is opened with the path of that directory, read through the same methods and
// by its own rules: only LF ends a line, NaN is refused, an event has a name, an
// object as its data or none, and either the session's id or no id. Appending
// to it is refused.
//
// # What is durable
//
// The events of one call are one write at the end of the file, so that no
// writer's line is torn by another's. When [Log.Append] returns nil the events
// are in the file, and survive the end of the process. With Options.Sync they
// are on the disk, and so are the names of the file and of its directory: they
// survive a power cut. Calls that wait at the same time share a write and a
// sync.
//
// A line that another writer or a failed write left unfinished is ended before
// the next one, and so is what a failed sync may have lost: it harms itself
// alone. Who replaces the file while another process appends to it may lose
// what that one is just writing.
//
// # What is noticed
//
// A [Cursor] knows the 4 KiB before it, and [Log.Heads] and [Log.Follow] look
// at as much of what they have read whenever they read on. A change of older
// bytes alone, in place, is not noticed.
//
// # Memory
//
// Every reading method takes less than 16 MiB in all, whatever the size of the
// file and of its lines: [Log.Heads], [Log.At], [Log.Follow] and [Log.Tail] some
// hundred kilobytes, [Log.Summary] as much for each of up to eight workers,
// [Log.SliceTo] a few megabytes. The heads that Tail returns come on top. Only
// [Log.Refs] and [Log.Usage] hold a whole row, one at a time.
//
// # Concurrency
//
// A Log may be used by many goroutines and a file by many processes. Readers
// take no lock. Summary and SliceTo read parts of the log on several
// processors at once, and wait for all of their goroutines; no other method
// starts one.
package eventslog
