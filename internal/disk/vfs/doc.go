// Package vfs reads and changes the files of a directory, so that no symlink
// leads out of it, and so that a reader, a killed process or a power cut meets
// the old content of a file or the new one.
//
// # Reading
//
// There is one way to open a file of a session: it must be a regular file; a
// symlink does not lead out of the directory; the open does not wait for the
// writer of a pipe, and waits for a lease that another program holds on the
// file. [Open] does it by way of an [os.Root]. On Linux [Reader] and [Sessions]
// do the same in one call of the system, which takes a fraction of the time.
//
// [Reader] reads files of many sessions in one go. [Sessions] reads the directory that
// has its path at that time, and lists the sessions. A [Stamp] shows whether a file
// changed.
//
// # Changing
//
// Every change of a name in a session's directory is a method of [Dir], and
// every method announces its operation to the directory's [seam.Seam].
// [Dir.Replace] writes a temporary file beside the file and renames it.
// [WriteNamed] is for the files that users name, and goes through renameio.
//
// Names become durable only with [Dir.Sync]. The content of a replaced file is durable
// before it takes its name, if the caller asked for that. Otherwise Linux has begun to
// write it at that time, and no call waits: ext4 would bring the name to the disk within
// seconds, and the content of a file that is exchanged or takes a new name up to half a
// minute later. It does this by itself where a file is renamed over another.
//
// # Other programs
//
// Windows refuses to open, rename or remove a file for as long as a program has it open
// that does not share this: the open of Python and of many editors does not share
// deletion, virus scanners and indexers open newly written files, and a locked range can
// be neither read nor written. Most of them close the file after some milliseconds; calls
// try again until then.
//
// A program can ask Linux for a notice before another program opens a file: it takes a
// lease (F_SETLEASE). Until it gives the lease up, an open of that file waits in the
// kernel. An open that must not wait, because a pipe could have the name of the file
// (O_NONBLOCK), fails at once with EAGAIN instead. Writers of this module hold leases for
// about a millisecond, file servers for longer; the kernel takes a lease away after 45
// seconds. Calls wait for that. The holder of a lease must not open that file by way of
// this package: it would wait for itself.
package vfs
