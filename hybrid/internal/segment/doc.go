// Package segment turns the lines of a session into documents for the cloud
// and back, exactly.
//
// A stream is a sequence of lines: the transcript, or one of the logs of one
// device. The running [Hash] over all lines up to a place names the history
// before it: two replicas with one [Point] hold the same lines. A segment is a
// document with some lines of a stream and the points before and behind them.
// A set of segments in which each point is reached holds the stream, wherever
// they were cut, in whatever order they come, and however they overlap: a
// reader may use a part of a segment up to any of its lines.
//
// A [Cutter] makes documents of lines: segments with their lines compressed, and before
// them the chunks of lines too long for a segment. A long line of an event log is stored
// as the difference to the long line before it. [Lines] reads a stream: it finds the
// segments walking back from the tip, and checks every hash before it yields a line. It
// reports the records of missing or damaged segments, and never leaves them out.
//
// # Versions
//
// All documents have one [Version]. Documents of another version, a greater or a smaller,
// are refused with [ErrFormat], and stay as they are.
//
// Everything here is pure: no files, no network, no clock. Functions may be called by
// many goroutines; a [Tracker] and a [Cutter] belong to one. Malformed documents are
// refused with an error, never with a panic. Errors hold ids and numbers, never content.
package segment
