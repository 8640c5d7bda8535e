// Package eventslog reads and writes events.jsonl, the audit log of a
// session: one event a line, only ever appended to.
//
// [Log.Append] writes events as the Python logging hook does. The reading
// methods go through a log of any size, with lines of any length, in a few
// hundred kilobytes: what they need of a line is its head, the small members
// such as time and name, and those are found in a stream. [Log.Open] gives
// the bytes of one event.
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
// is read through the same methods and by its own rules: only LF ends a line,
// NaN is refused, an event has a name, an object as its data or none, and
// either the session's id or no id. Appending to it is refused.
//
// # Guarantees
//
// A batch of events is one write at the end of the file, so that no writer's
// line is torn by another's. When [Log.Append] returns nil the events are in
// the file, and with Options.Sync on the disk. A line that another writer
// left unfinished is ended first, so that it harms itself alone.
//
// A [Cursor] knows the 4 KiB before it. A change of older bytes alone, in
// place, is not noticed.
//
// # Concurrency
//
// A Log may be used by many goroutines and a file by many processes. Readers
// take no lock.
package eventslog
