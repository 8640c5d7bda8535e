// Package track follows a local file of lines: it finds out which lines are new and which have
// changed, and what each line looks like when it leaves this device. A scan costs the new lines.
//
// # The chain of a file
//
// A [Chain] is a running hash over the lines of a file, with a mark every so many lines. Two
// files with the same hash behind n lines have the same n lines. [Source.Scan] goes on where the
// last scan ended, if the file still begins as it did then; else it reads all of it. What a scan
// found out is a [Followed], which is kept beside the sessions and can be lost.
//
// # The form of a line
//
// A line is sent in the form that the rules of redaction give it then, and has that
// form for good: the hashes of the history are made of it. Rules change: a new
// version finds more, a user adds patterns. New rules hold for the lines that were
// not sent yet. So the state keeps the forms of those lines that some rules
// change, see [Form], and a line is looked up there before the rules of
// today are asked.
//
// A form belongs to a line with that number and content. A line that was written
// since, in the place of another one, has none.
package track
