// Package sessiondir owns the directories of sessions: every file below
// sessions/ is read, written, replaced and removed through it.
//
// A [Base] is the sessions directory, a [Dir] the directory of one session.
// Each is confined by an [os.Root]: names never lead outside, not even
// through symlinks. Both notice when another program has removed and made the
// directory anew, and then work on the new one.
//
// # Births and removals
//
// A new session is built in a staging directory in the bookkeeping and gets its
// name, with all its files, by one rename ([Base.Make], [Base.Publish]). A session
// that is removed leaves its name by one rename, too: to a directory of the trash,
// from which it can be brought back ([Base.Send], [Base.Fetch]), or to the deleted
// ones in the bookkeeping, whose files are then removed ([Base.Delete]). At every
// instant, and after a kill, a session is there with all its files or not at all.
//
// The remains of a killed process in the bookkeeping are removed later: a staging
// directory when it is a day old, deleted sessions by the next delete.
package sessiondir
