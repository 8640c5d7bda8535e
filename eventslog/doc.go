// Package eventslog reads and writes events.jsonl, the audit log of a
// session: one event a line, only ever appended to.
//
// [Log.Append] writes events as the Python logging hook does. The reading methods go
// through a log of any size, with lines of any length: what they need of a line is its
// head, the small members such as time and name. They find it while the line streams
// by. [Log.Open] gives the bytes of one event.
//
// # What counts as an event
//
// A line is an event if the reader of the Python tools, here called the
// reference, takes it for one: it is an object that json.loads accepts. Its
// members may stand in any order, and of several with one name the last counts.
// CR ends a line as LF does. Other lines are skipped: damaged ones, and values
// that are no objects. Names, levels, times and ids longer than 64 KiB are cut.
//
// The newer tools keep a log of their own in the directory context-intelligence of
// a session. [OpenCapture] opens it. The same methods read it, by its own rules:
// only LF ends a line, NaN is refused, and an event has a name, an object as its
// data or none, and either the session's id or no id. Appending to it is refused.
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
// the next one is written, and so is what a failed sync may have lost. So only
// that line is damaged. A program that replaces the file while another process
// appends to it may lose what is being appended.
//
// # What is noticed
//
// A [Cursor] holds a hash of the 4 KiB before it. [Log.Heads] and [Log.Follow] compare
// those bytes with the file whenever they read on. They do not notice when only older
// bytes change, in place.
//
// # Memory
//
// Every reading method but three takes less than 16 MiB in all, whatever the size
// of the file and of its lines: [Log.Heads], [Log.At], [Log.Follow] and
// [Log.Tail] some hundred kilobytes, [Log.Summary] as much for each of up to
// eight workers, [Log.SliceTo] a few megabytes. The heads that Tail returns are
// not counted in this. [Log.Refs], [Log.Usage] and SliceTo with a new session id
// hold a whole row, one at a time. Where json.dumps would write a row otherwise,
// SliceTo also holds the new form, and 32 bytes for each value.
//
// # Concurrency
//
// A Log may be used by many goroutines and a file by many processes. Readers
// take no lock. Summary and SliceTo read parts of the log on several
// processors at once, and wait for all of their goroutines; no other method
// starts one.
package eventslog
