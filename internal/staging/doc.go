// Package staging makes sessions appear and vanish whole.
//
// A new session is built in a staging directory in the bookkeeping and gets its
// name, with all its files, by one rename ([Staging.Begin], [Staging.Publish]). A session that is
// removed leaves its name by one rename, too: to a directory of the trash, from
// which it can be brought back ([Staging.Send]), or to the deleted ones in the
// bookkeeping, whose files are then removed ([Staging.Delete]). At every instant,
// and after a kill, a session is there with all its files or not at all.
//
// What a killed process leaves in the bookkeeping is removed later: a staging
// directory when it is a day old, deleted sessions by the next delete.
package staging
