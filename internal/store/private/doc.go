// Package private decides which sessions never leave this machine.
//
// # Rules and lineage
//
// Rules belong to the directory and follow lineage. A session stays here when its own id
// or name is kept, or when its parent stays. Tools name the parent in several ways, in
// the metadata or beside the log of events, and a session may name more than one: then
// the strictest verdict counts. A copied directory whose session_id names a session that stays
// counts as its child; one whose session_id nobody knows was renamed. The verdict is remembered,
// with the parents and the name that a glob kept, in a file for each session, by its id: so a
// child follows its parent after that was removed, after another session got the parent's id, and
// after nothing names it, and a session whose metadata were lost stays until it
// has another name, the glob is taken back, or it is released. Older names in the backup of
// the metadata do not count: the name that was judged may be the later one.
//
// Where there are rules and something is not known, the session is held back: unreadable
// metadata, and a parent that is neither here, nor judged before, nor in the remote. Without
// rules only its own metadata hold a session back. Release releases one session. Then its
// metadata are sent without the ids of its parents; its messages and events are sent as they are.
package private
