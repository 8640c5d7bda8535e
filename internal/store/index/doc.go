// Package index remembers the findings of one pass over a transcript: where its messages
// and turns begin, and a summary of its content. The index may be lost at any time; then
// the next reader reads the transcript again.
//
// A [Place] is between two messages: a block of bytes ends at a place, a cursor is a
// place, and the reader of a part of a transcript begins at a place, see [Rows.At].
//
// # The files
//
// They are in the directory index of the bookkeeping, for the owner alone:
//
//   - A shard ([Shard]) holds an [Entry] for each of some sessions: the counts, the first
//     prompt and facts from the metadata. An entry that would be larger than [MaxEntry]
//     leaves out the metadata; the reader then reads the session's own file.
//   - A rows file ([Rows]) belongs to one transcript of at least [LargeFrom] bytes. For
//     each block of 64 KiB it has a hash, the offset of its first line, and the [Place]
//     behind the messages that begin before its end. It holds no text; of unanswered
//     calls it holds the hashes of their ids.
//   - The file lock is locked by each program that changes one of the other files.
//
// Each file begins with its kind and version and ends with the XXH3 hash of all
// bytes before, seeded with the number of the rules by which it was made
// ([Rules]). A file of another version or of other rules, or one whose hash is
// wrong, counts as none. Files are replaced by a rename and never synced. The
// note at the beginning of a rows file alone is written in place, and has a hash
// of its own.
//
// # Why it is trusted
//
// A rows file gives places in a transcript, never its content. There are four cases:
//
//   - The stamp fits: the transcript has the size, the times of the last change of its
//     content and of its inode, the inode and the device that it had before the pass
//     began, and it had come to rest at that time. A change within one step of the file
//     system's clock may leave the times as they were, so the stamp of a file that
//     changed just before the pass is not trusted. A fitting stamp is trusted at once.
//     Each block that is read for an answer is compared with its hash.
//   - The note fits: a program that appends to a transcript by this library knows the
//     state before, under the session's lock, and gives the file a time that no other
//     writer gives. When the state before is the state in the rows file or its note, the
//     append writes the stamp of the new state into the note. A reader whose transcript
//     has that stamp hashes the last block in the index, and parses the bytes behind it
//     ([Rows.ExtendEnd]).
//   - Neither fits, or is trusted. One pass hashes the part of the transcript that the
//     index describes. When all hashes are equal, the index is right about that part,
//     whatever program wrote the file, and only the lines after it are parsed
//     ([Rows.Extend]).
//   - Else the transcript is parsed from its beginning ([Build]).
//
// Whether the backup replaces the transcript, or an append is marked, is decided before
// the index is read. Only a sound transcript has an index.
//
// A backup that has the stamp in the index proves nothing about the transcript. The two
// files trade their names in an append, and that changes the time of each inode: after an
// append whose note was lost, neither file has the old stamp. If the backup has it,
// another tool put it there, and may have written anything into the transcript. While
// this library writes, the transcript is whole under its name; while another tool appends
// in place, there is its marker, and the backup is read as a whole, without an index.
//
// An append writes no more than the note. A rename for each turn would cost more than the
// append itself when nothing is synced, and a host that appends for hours would pay for
// readers that may never come. So the reader writes the index when much has been
// appended. A note that is lost, because the process is killed before it is written or
// the file is replaced at the same time, costs the next reader a pass. A power cut may
// lose the note or keep it; it says nothing about a file with another stamp.
//
// # What goes unnoticed
//
// Where the system reports neither the inode nor the time of its change (on all systems
// but Linux, macOS and the BSDs), a writer that keeps the size and sets the time of the
// last change back is not noticed in counts and in positions. The blocks that are read
// for an answer are compared with their hashes there, too. So is a clock that is set back
// by exactly the right time.
package index
