// Package powercut cuts the power under real file systems and examines the data that the
// store has kept.
//
// # How it works
//
// A disk is a file in a FUSE file system of this process's child (package disk). It writes
// each write, hole and flush into a record, in order. On a loop device of that file lies
// ext4, xfs or btrfs (package device), and there another child calls the store (package
// workload). For each call it notes the number of entries in the record when the call began
// and when it returned, and the result of a reader at that time (package history).
//
// Two devices sync sessions in the workload with the strict server (package
// cloud). The server loses no power: it is made again, as it was at the cut, from
// the record of its requests. The command-line tool imports sessions, moves them
// to the trash and brings them back.
//
// A crash state is a disk with all writes before the last flush before a cut
// of the record, and some of those after it, in any order or torn (package
// record). The kernel mounts it, which replays the journal, and three readers
// look at every session (package inspect): this library, a few lines of Python
// that read as the Python store does, and a plain reader of lines.
//
// # Promises
//
// A session is as the last call left it that was acknowledged before the cut,
// or as a later one would that had begun. With Durable this holds for all
// readers, also after a second cut while the first one is recovered from, and
// the next write works. Relaxed loses no more than the Python store's way of
// saving, called in turn with it. A call that was claimed may not be claimed
// again. A session that is imported, or moved to or from the trash, is whole in
// one place, or not there if it never was.
//
// A device that keeps its power syncs by a directory on the disk, as of a file server. A
// new device gets everything that this sync acknowledged, and everything that the heads
// lead to is there.
//
// A device that syncs after the cut finds a state that it can use. Data that was sent
// stays, also with Relaxed; data acknowledged with Durable is sent. Nothing is there twice,
// nothing is in conflict, and another device gets the same.
//
// # Controls
//
// Files that are renamed without a sync must be lost. Files that are synced,
// with their directory, must not be. On a disk that ignores flushes the store
// must lose rows. Else the test proves nothing, and fails.
//
// # Running it
//
//	go test . -v [-states N] [-fs ext4,xfs,btrfs,…] [-keep DIR]
//	go test . -v -record DIR -state "CUT STRATEGY SEED"
//	go test . -v -record DIR -states N [-within TEXT]
//
// as root on Linux with FUSE, loop devices, python3 and mkfs of the file
// systems. The variable TEST_SEED decides the workload and the states. The second form repeats one state of a kept record, with each line
// of its losses, and leaves the disk there as crash.img. The third one judges
// other states of it, and with -within only those in calls on subjects of which
// view and directory have a text, such as "cloud quiet".
package powercut
