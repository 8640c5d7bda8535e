// Package track follows a local file of lines: it finds out which lines are new, which
// have changed, and in which form each line is sent. A scan costs the new lines.
//
// # The chain of a file
//
// A [Chain] is a running hash over the lines of a file, with a mark every so many lines.
// Two files with the same hash behind n lines have the same n lines. [Source.Scan]
// continues where the last scan ended, if the file still begins as it did then; otherwise
// it reads the whole file. The result of a scan is a [Followed], which is kept beside the
// sessions and can be lost.
//
// # The form of a line
//
// A line is sent in the form that the rules of redaction give it then, and has that form
// for good: the hashes of the history are made of it. Rules change: a new version finds
// more, a user adds patterns. New rules hold for the lines that were not sent yet. So the
// state keeps the forms of the lines that some rules change, see [Form], and a line is
// looked up there before today's rules are asked.
//
// A form belongs to a line with that number and content. A line that was written
// since, in the place of another one, has none.
package track
