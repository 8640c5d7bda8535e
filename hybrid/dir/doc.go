// Package dir is the [remote.Remote] that is a directory: of a file server, of a disk that goes
// from device to device, or of this machine, to try the sync without an account.
//
// [Provision] makes a remote of an empty directory, and [Open] opens it. All devices of a user
// open the same directory, each by its own path. It is opened where one of the two ways is
// known to work by which a file gets a name that must be free: a hard link, or a rename that
// replaces nothing. These are refused:
//
//   - a directory without the file that Provision makes, as that in which a disk or share is
//     mounted and is not now
//   - a directory of FUSE, as of sshfs or rclone, of which many let two devices have the same
//     name: one that does not is opened by a path that ends with ?trusted=1
//   - a directory that Dropbox, OneDrive, iCloud, Google Drive, Syncthing or another such
//     program copies: it is the same nowhere at the same time
//
// Files and directories are for the user alone. What Commit stored is durable when it returns,
// as far as the file server keeps its word: an NFS export with the option async may lose it in
// a power cut. Nothing takes locks, and a program may end at any time. A call whose context
// ends returns also where the file server does not answer, and what it had begun may yet be
// done; [Remote.Close] waits for that.
//
// # Files
//
// A part is a directory p-<part>. The object of a drawn name is the file o-<name> in it, and
// that of a fixed name the directory f-<name>, in which each version is a file whose name is
// its number, 16 hexadecimal digits; the highest counts. The next one is written under another
// name and gets its own when it is durable, which one of several devices can do. The lower
// ones stay for an hour, the last 32 of them longer: so a device that slept finds the number
// taken that it is about to use, or, later, a higher one.
//
// A file is a line of JSON, the label and the body. The line has the lengths of both, and the
// version's mark op, which is random; after is that of the version that it replaced. So a
// device to which a file server says that the name exists, which its own first try made, finds
// that it won, and one whose version was replaced since that it had won.
package dir
