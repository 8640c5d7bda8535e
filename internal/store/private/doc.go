// Package private decides which sessions never leave this machine.
//
// # Rules and lineage
//
// Rules belong to the directory and follow lineage. A session stays here when its own id
// or name is kept, or when its parent stays. Tools name the parent in several ways, in
// the metadata or beside the log of events, and a session may name more than one: then
// the strictest verdict counts. It is remembered, with the parents,
// so that a child follows it after the parent was removed, and follows a parent that is
// no longer named. Where something is not known, the session is held back: unreadable
// metadata, and a parent that is neither here, nor judged before, nor in the cloud.
// Release releases one session from its parents. Then their ids are not sent with it.
package private
