// Package crashsim holds the instruments that tests attach to a
// [seam.Seam]: a [Failer] that refuses one operation, a [Recorder] that
// records all of them, and a [Crash] that works out, from such a record, the
// states in which a power cut may leave the disk.
//
// It is for tests: no code that is shipped imports it.
package crashsim
