// Package atomicfile changes the files of one directory so that a reader, a
// killed process or a power cut meets the old content or the new one.
//
// A [Dir] is the door: every change of a name in a session's directory is one
// of its methods, and every method announces what it does to the directory's
// [fault.Seam]. Replacing goes through renameio, which refuses Windows; there
// the standard library does the same steps.
//
// Names become durable only with [Dir.Sync]; the content of a replaced file
// is durable before it takes its name, if that was asked for.
package atomicfile
