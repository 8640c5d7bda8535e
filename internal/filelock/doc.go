// Package filelock takes advisory whole-file locks that exclude between
// processes and between the goroutines of one.
//
// On Unix a lock is BSD flock(2), the one that Python's fcntl.flock and the
// filelock package take; POSIX record locks and flock do not see each other.
// On Windows it is LockFileEx over the whole file, which also excludes
// filelock's one byte. The kernel drops the lock of a process that dies.
//
// A lock file is never removed here: a process that waits on a removed file
// would hold a lock that nobody else can meet. Some versions of filelock do
// remove it, so a lock counts only while its name still leads to it.
package filelock
