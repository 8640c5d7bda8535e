// Package lock takes advisory whole-file locks that exclude processes and the goroutines
// of one process.
//
// On Unix a lock is BSD flock(2), as in Python's fcntl.flock and the filelock package;
// POSIX record locks and flock do not see each other. On Windows it is LockFileEx over
// the whole file, which also excludes filelock's one byte. The kernel drops the lock of a
// process that dies.
//
// A lock file is never removed here: a process that waits on a removed file would hold a
// lock that excludes no other process. Some versions of filelock do remove it, so a lock
// counts only while the file still has its name.
//
// # Waiting
//
// A [Queue] lets the users of a lock, in many processes, wait for it in line. The locks
// themselves are taken without waiting, because a system call that blocks cannot be
// cancelled and costs a thread for each waiter. A waiter that only tries again and again
// gets the lock by luck: a process in a tight loop always comes before a process that
// sleeps. So the waiters of this library line up first, and only the first in line tries
// often. Tools that do not use the line (the Python ones) still try by themselves.
//
// # The line
//
// A [Queue] is one file, the ticket file, which the first waiter makes. It
// stays empty: the tickets are locks on single bytes of it, open-file-description locks
// (F_OFD_SETLK), which never block and which the kernel drops when their process dies.
// Each lock has a range of its own in the file, 2^32 bytes from the hash of
// its name on, and the tickets of its waiters are bytes of that range: a
// lower byte is nearer to the lock.
//
//	         no ticket in the range, lock is free
//	 asks ──────────────────────────────────────────────> has the lock
//	  │                                                        ^
//	  │ there are tickets, or the lock is busy                 │ a try succeeds
//	  v                                                        │
//	gate ──> behind ── no byte below its own is locked ──> first in line
//	  │        │                                               │
//	  │        │ ctx ends, or the line has not moved for 10 s  │ the same
//	  └────────┴───────────────────────────────────────────────┴──> gives up
//
// The steps are:
//
//   - asks: one F_OFD_GETLK over the range shows whether there are waiters. If there are
//     none, the lock is tried at once. A caller that comes back in a tight loop finds
//     the tickets of the waiters, and lines up too.
//   - gate: the locks of one open file do not exclude each other, so only one goroutine
//     of a Queue is in one line. The others wait for it in the process, first come first
//     served.
//   - behind: the waiter has locked the byte after the highest locked one. It checks
//     every 4 ms whether the line has moved.
//   - first in line: it tries the lock every 1 to 2 ms.
//   - has the lock, gives up: the ticket is dropped. The holder of the lock has no
//     ticket.
//
// # Guarantees
//
// Waiters that line up get the lock in the order of their tickets. ctx ends the wait at
// once, at every stage. No caller waits in a system call.
//
// The limit of 10 s is for one holder that keeps the lock. It begins anew whenever the
// first in line changes, so no caller fails because of a long line. If the first in line
// gives up at the end of its limit, that is no such change for the waiters that have
// waited with it.
//
// The line is a courtesy and protects nothing: the lock decides. A waiter that is stopped
// cannot block the others, for when the line has not moved for a second, every waiter in
// it tries the lock now and then.
//
// # Not guaranteed
//
// Two locks whose names have the same hash share a line; that costs time and harms
// nothing. Where there are no such locks (systems other than Linux, some network file
// systems), or the ticket file cannot be opened, waiters try the lock with short pauses
// of random length, in no order. If the ticket file is removed, the processes that have
// it open notice within a second.
package lock
