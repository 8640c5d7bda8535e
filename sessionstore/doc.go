// Package sessionstore reads and writes agent sessions in the Amplifier
// layout, byte for byte as the Python tools do:
//
//	~/.amplifier/projects/<project>/sessions/<id>/
//	    transcript.jsonl   the conversation, one message a line
//	    metadata.json      the facts about the session
//	    config.md          the configuration it began with
//	    events.jsonl       the audit log, see package eventslog
//	    .draft.jsonl       of this library: what an answer has said, see package turn
//
// A [Store] is one sessions directory. [Store.Save] and [Store.Load] are the
// pair that most programs need; a [Message] keeps the exact bytes of its line
// and gives views of them on demand. The comments call the Python SessionStore
// and the tools around it the reference.
//
// # Guarantees
//
// A reader finds the old content of a file or the new one, whole, at every instant, also
// after a killed process or a power cut. When a call that writes returns nil, its content
// is on the disk. With [Relaxed] both hold after a killed process, but not after a power
// cut.
//
// Damage is reported as [ErrCorrupt], together with everything that can be read. A later
// save keeps the damaged bytes aside, and [Store.Salvage] brings back the whole messages
// in them. Nothing outside the session's directory is touched, not even through symlinks.
// An error after the writing began may leave the new state in place.
//
// A killed append has happened or it has not. The names of the files change only when
// everything is written, so [Store.Load] and the Python tools read the same messages
// afterwards. The kill may leave a backup that is longer than the transcript. Neither
// Load nor the Python tools use it then, and the next append overwrites it.
//
// The files that a user names, such as exports, are replaced by the package renameio. A
// session's files go another way, by internal/disk/commit. An append exchanges the names
// of transcript and backup, so both are whole at every instant. The directory is synced,
// so the names are durable, too. All operations go through one [os.Root], so if another
// program replaces a folder by a symlink in between, no write leaves the sessions
// directory.
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
// Calls that wait to write form a queue, so none is starved by busy callers. A call gives
// up with [ErrLocked] when one holder keeps the lock for 10 s, not because the queue is
// long; ctx ends the wait at once. A host that runs the session ([Store.Acquire], or a
// newer Python tool) is not waited for: the call returns ErrLocked at once, with the
// host's name. A call releases the ownership lock before it returns.
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
// Files are for the owner alone (0600, directories 0700). A file that root makes in the
// sessions of another user belongs to that user; where root may not change the owner of a
// file, the call fails and replaces nothing.
//
// # What a list and a part cost
//
// [Store.Summaries] and [Store.View] keep an index of the sessions that they read, in
// .sessionstore/index in the sessions directory: the counts, the first prompt, members of
// the metadata, and the places where turns begin in transcripts of at least 1 MiB. The
// index is for the owner alone, never sent to a remote, and removed with the session. Any
// program may remove it at any time. It gives the same answers as a full read. The index
// is used while a file's size, times and inode are unchanged; else the file is read
// again. Returned messages are compared with a hash. Package internal/store/index
// explains why this is right. An append leaves at most a note in the index, and the next
// reader brings the index up to date. Where the note does not fit the file, that reader
// hashes the old part of the transcript once.
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
