// Package commit gives a file of a session new content, and makes the former content its
// backup, beside programs that know no lock.
//
// # The files
//
//	main     transcript.jsonl, metadata.json …: the truth
//	backup   main + ".backup": the state before, read when main is damaged
//
// A program of the older kind saves like this, and takes no lock:
//
//	o1  it opens main for reading (the source)
//	o2  it opens backup, which empties it, and copies the source into it
//	o3  it writes a temporary file
//	o4  it renames that over main
//
// # The contract: never worse than two such programs beside each other
//
//  1. No reader ever meets an empty, missing or shorter file that no writer
//     meant.
//  2. A row that was acknowledged before their save began is in main or in
//     backup when that save ends.
//  3. Of two calls that overlap, the last to rename wins; nothing else is lost.
//
// # The states
//
// The caller holds the session's lock: no other user of this library writes. M is the
// file with the name main, K the file with the name backup, and N the file with the whole
// new content.
//
//	        main  backup  temporary name
//	start    M     K       N in [File.Replace]
//	ready    M     N       K in [File.Replace]
//	done     N     M       -
//
// In "ready", N is whole and, if [File].Sync is set, synced; M and N are leased. One
// exchange of the names main and backup leads from "ready" to "done".
//
// [File.Append] makes K itself N: K is one save behind M, so it is brought up to date
// with M, and the new lines are appended, in place. That costs the new lines only.
// [File.Append] takes a write lease on K before it reads K: no other program has K open
// then. [File.Replace] writes N as a temporary file, takes the lease on it, and exchanges
// it with K. After "done", when the leases are given up, it removes K.
//
// [File.Amend] makes K itself N, too, if they differ only in bytes of one sector: a disk
// writes a sector whole, so K is never torn.
//
// Just before the exchange, all take a write lease on M. A reader of M makes the lease
// fail: it may be at o1, about to empty its own source at o2. So [File] waits up to 20 ms
// for it, and then does not exchange.
//
// While a lease is held, the kernel lets no other program open the file: a program that
// tries waits. So after the exchange, before the leases are given up, [File] checks which
// programs wait:
//
//   - A program that waits to open M may hold it as its source, and M is the backup now:
//     its o2 would empty M. So a complete copy of M takes the name backup first. Then the
//     program empties that copy, from M.
//   - A program that waits to open N for writing came to its o2 when N was the backup: it
//     will empty N, which is main now. So a complete copy of N takes the name main first.
//
// A lease expires when it is not given up in time (45 s on most systems), as
// when this process is stopped. It then looks as if a writer waited, and the
// file may be empty already. So a copy takes a name only when the file has, after
// it was copied, the length and the time that it had when this process leased
// or wrote it. When no whole copy can be had, the error Is [ErrOverwritten] and
// the caller writes from memory.
//
// Names are never swapped back: a file that had a name a moment ago may be empty now. If
// o4 came before our exchange, their file is the backup and ours is main
// ([Result.Displaced]); if it came after, theirs is main ([ErrOvertaken]). Either way the
// caller reads again and decides.
//
// A killed process leaves one of the states above, and perhaps a temporary file. In each,
// main is whole. A power cut may keep each change of a name or not; in each combination
// main is whole, because N was synced before. Without Sync, the system has begun to write
// N before "ready": main may be incomplete after a power cut in the moments until N is
// written.
//
// # Without leases
//
// Leases work where the kernel sees every program that opens the file: on local file
// systems of Linux, for files of this user. Elsewhere, and while M stays open in another
// program, [File.Replace] does as the older programs do, but never writes in place:
//
//	start    M     K
//	copied   M     C     C is a new, complete copy of M
//	done     N     C
//
// That costs the whole file twice. [File.Append] is not possible then
// ([ErrRewrite]).
package commit
