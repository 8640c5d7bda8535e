// Package dirread reads a sessions directory. It changes nothing there.
//
// There is one way to open a file of a session: it must be a regular file; a
// symlink does not lead out of the directory; nobody waits for the writer of a
// pipe; a lease that another program holds on the file is waited for. [Open]
// does it by way of an [os.Root]. On Linux [Dir] and [Sessions] do the same in
// one call of the system, which takes a fraction of the time.
//
// [Dir] is for reading files of many sessions in one go. [Sessions] reads what
// stands at its path at that time, and lists the sessions.
package dirread
