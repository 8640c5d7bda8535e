// Package dir implements a [remote.Remote] as a directory: of a file server, of a disk
// that goes from device to device, or of this machine, to try the sync without a
// service.
//
// [Provision] makes a remote of an empty directory, and [Open] opens it. All devices of a
// user open the same directory, each by its own path. It is opened where one of two ways
// to give a file a name that must be free is known to work: a hard link, or a rename that
// replaces nothing. These are refused:
//
//   - a directory without the file that Provision makes, as a mount point whose disk or
//     share is not mounted now
//   - a directory of FUSE, as of sshfs or rclone, of which many let two devices have the same
//     name: a safe one is opened by a path that ends with ?trusted=1
//   - a directory that Dropbox, OneDrive, iCloud, Google Drive, Syncthing or another such
//     program copies: it is the same nowhere at the same time
//
// Files and directories are for the user alone. Objects that Commit stored are durable
// when it returns, as far as the file server keeps its word: an NFS export with the
// option async may lose them in a power cut. No call takes locks, and a program may end
// at any time. A call whose context ends returns also where the file server does not
// answer, and its work may yet be done; [Remote.Close] waits for that. While the file server
// owes answers to four such calls, further ones fail at once with [remote.ErrUnreachable].
//
// # Files
//
// A part is a directory p-<part>. The object of a drawn name is the file o-<name> in it,
// and the object of a fixed name the directory f-<name>, in which each version is a file
// whose name is its number, 16 hexadecimal digits; the highest counts. The next version
// is written under another name and gets its number when it is durable; only one of
// several devices can take the number. The lower ones stay for an hour, the last 32 of
// them longer: so a device that slept finds the number taken that it is about to use, or,
// later, a higher one.
//
// A file is a line of JSON, the label and the body. The line has the lengths of both, and
// the version's mark op, which is random; after is the mark of the version that it
// replaced. A file server may report to a device that the name exists which the device's
// own first try made: the mark shows that the device won. The mark after shows the same
// to a device whose version was replaced since.
package dir
