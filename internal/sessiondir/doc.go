// Package sessiondir owns the directories of sessions: every file below
// sessions/ is read, written, replaced and removed through it.
//
// A [Base] is the sessions directory, a [Dir] the directory of one session.
// Each is confined by an [os.Root]: names never lead outside, not even
// through symlinks. Both notice when another program has removed and made the
// directory anew, and then work on the new one.
package sessiondir
