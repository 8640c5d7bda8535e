// Package sessionstore reads and writes agent sessions in the Amplifier
// layout, byte for byte as the Python tools do:
//
//	~/.amplifier/projects/<project>/sessions/<id>/
//	    transcript.jsonl   the conversation, one message a line
//	    metadata.json      what is known about the session
//	    config.md          the configuration it began with
//	    events.jsonl       the audit log, see package eventslog
//
// A [Store] is one sessions directory. [Store.Save] and [Store.Load] are the
// pair that most programs need; a [Message] keeps the exact bytes of its line
// and gives views of them on demand. The comments call the Python SessionStore
// and the tools around it the reference.
//
// # Guarantees
//
// Whoever opens a file finds the old content or the new one, whole, at every
// instant, also after a killed process or a power cut. When a call that writes
// returns nil, what it wrote is on the disk. With [Relaxed] both hold after a
// killed process, but not after a power cut.
//
// What cannot be read is reported as [ErrCorrupt] together with all that can. A
// later save keeps the damaged bytes aside, and [Store.Salvage] brings back
// what is whole in them. Nothing outside the session's directory is touched,
// not even through symlinks. An error after the writing began may leave the new
// state in place.
//
// A killed append has happened or it has not. The names of the files change
// only when all is written, so [Store.Load] and the Python tools read the same
// messages afterwards. The kill may leave a backup that is longer than the
// transcript. Neither Load nor the Python tools use it then, and the next
// append overwrites it.
//
// The files that a user names, as exports, are replaced by the package renameio. A session's
// files go another way, by internal/disk/commit: an append exchanges the names of transcript
// and backup, so that both stand whole at every instant, the directory is synced, so that
// the names are durable, too, and all goes through one [os.Root], so that a folder that another
// program swaps for a symlink meanwhile leads no write elsewhere.
//
// # Concurrency
//
// A Store may be used by many goroutines, and many processes may open one
// directory. Calls that write one session wait for each other, also between
// processes, by the lock file that the newer Python tools hold; they honour
// those tools' append marker, ownership lock and transfer fence too. Calls on
// different sessions do not wait for each other. Readers take no lock. There is
// one wait for them: a transcript that is empty beside a backup, and became so
// within the last two seconds, is looked at again for up to 200 ms.
//
// Those who wait to write stand in line, so none is starved by others that are
// busy. A call gives up with [ErrLocked] when one holder keeps the lock for
// 10 s, not because the line is long; ctx ends the wait at once. A host that
// runs the session ([Store.Acquire], or a newer Python tool) is not waited for:
// that is ErrLocked at once, with the host's name. A call gives the ownership
// lock up before it returns.
//
// # Beside tools that take no lock
//
// The older Python tools take no lock. Beside one of them, this package is
// never worse than a second such tool would be:
//
//  1. No reader ever meets an empty, missing or shorter transcript that no
//     writer meant.
//  2. A message that was acknowledged before the tool's save began is in
//     transcript.jsonl or in its backup when that save ends.
//  3. Of two calls that overlap, the last to rename wins; nothing else is
//     lost.
//
// Files are for the owner alone (0600, directories 0700). What root makes in the
// sessions of another user belongs to that user; where root may not give it away,
// the call fails and replaces nothing.
//
// # What a list and a part cost
//
// [Store.Summaries] and [Store.View] keep what they read of sessions in
// .sessionstore/index in the sessions directory: the
// counts, the first prompt, what metadata says, and where turns begin in
// transcripts of at least 1 MiB. It is for the owner alone, never sent to a
// cloud, and goes with the session. It may be removed at any time and by
// anybody. Its answers are those of a full read. It is believed while a file's
// size, times and inode are as they were; else the file is read again. What is
// returned is compared with a hash. Package internal/store/index tells why this is
// right. An append leaves at most a note in it, and the next reader brings it
// up to date. Where the note does not fit the file, that reader hashes the old
// part of the transcript once.
//
// # What a turn costs
//
// A transcript is appended to by extending the file that is its backup, one
// save behind, and exchanging the names of both. So a turn costs its own lines,
// the file named transcript.jsonl is never written, and its backup is the state
// before. The turn_count of metadata.json changes in the same way.
//
// A file is extended only when the kernel says, by granting a lease, that no
// other program has it open. It does so on Linux, on ext4, xfs, btrfs, f2fs,
// tmpfs and overlay, for files of the same user. Without a lease the whole
// transcript is written as a new file, and copied to a new backup: on all other
// systems and file systems, on files of another user, and while another program
// keeps transcript.jsonl open. The same holds on a file system that cannot
// exchange two names. The first append after a save that replaced the transcript
// writes it whole, too, since the backup is no beginning of it, and so does one
// whose exchange of names fails.
package sessionstore
