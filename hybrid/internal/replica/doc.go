// Package replica keeps the state that this device has of the sessions that it syncs: a
// [Table], on the disk, so that the next process begins where the last one ended.
//
// # What is in a table
//
// For each session a [Session]: the [Stat] of its files when they were last in step with
// the cloud, and the revision of the head at that time. A session with the same stat, and
// no later revision in the catalogue, needs no sync. For each entry of the catalogue an
// [Entry], and the [Cursor]: how far the catalogue was read.
//
// # Rules
//
//   - A table can be lost at any time: then the sessions are compared with the
//     cloud once more, and the catalogue is read from its beginning.
//   - The cursor is never behind an entry that the table lacks. Both are
//     written in one file.
//   - A [Session] is only put after its files were read, with a Stat that was
//     taken before. A write in between shows in the next Stat.
//   - A Stat that may hide a change within one step of the file system's clock is
//     not [Stat.Sure]: the files are read once more.
//   - An entry is replaced only by an entry of the same or a later revision.
//   - Each round, which is begun once a week, reads the catalogue from its
//     beginning. Entries that two rounds did not meet are forgotten.
//
// # The file
//
// A table is one file of lines. Each is the CRC-32C of a JSON text as eight hexadecimal
// digits, a space, and the text. The first line is a header: the version, the identity of
// the table, a random name of the file, and how often everything was void. The other line is
// the content. A line that is not whole ends the file. A file without a content counts as
// missing.
//
// A file of the former name has several lines of content, to which other programs append: later
// ones replace what earlier ones say. It is read where there is no other file, and never written:
// a Save here would lose what they append, and they would not see it.
//
// A Save writes the file whole and renames it over the old one, under a lock that excludes
// other processes of the device. Where the file has another name than the one that it read or
// wrote last, it reads it, and adds what the file lacks; what is void in the file is void for
// all. Nothing is synced: a power cut may lose the file. Package hybrid saves when a store
// closes, and else once a minute if something changed: so a turn does not cost a write of all
// sessions. What a kill loses is compared once more.
//
// A table belongs to one place, device, user, project, container and set of privacy
// rules. Its file has their hash in its name, so that programs which disagree about them
// do not undo each other's work.
package replica
