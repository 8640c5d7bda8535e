// Package gc keeps the copy of a session in the cloud small. [Prune] gives up former
// heads after their time, merges runs of small segments, and removes garbage: the
// documents that nothing leads to any more. This page explains why it removes nothing
// that is still needed.
//
// # The documents that are reachable
//
//	the head                        → segments of the transcript and of each log, chunks
//	                                  of small files, histories
//	a history that the head names   → segments of its stream
//	a segment that stays            → its chunks; where one is gone, nothing
//
// A history is a former head, a branch, or a log in its state before it was cut. The head
// names them all. So a device that lists them knows whether the list lacks one, and
// passes over histories that the head does not name.
//
// An inventory is all documents of a session, listed after its head and the histories
// were read. The live set is the part that can be reached from the left side. All else is
// garbage.
//
// # Names
//
// A name is fixed or drawn. The head and an entry of the catalogue have fixed names: such
// a document is only replaced, and only in the version that was read; it is never
// removed. All other names have a nonce in them and are never used twice. So a removal
// needs no condition: a document with that name is the intended one, or is gone already.
//
// # The states of a document
//
//	from       to         when
//	           waiting    a writer stores it, before the head that will lead to it
//	waiting    live       the head, or a history that it names, leads to it
//	waiting    garbage    its writer gave up
//	live       garbage    a former head expired, or was the oldest of more than
//	                      [head.MaxFormer], a larger segment took its place, the
//	                      transcript was rewritten, a file was replaced, or the session
//	                      was deleted
//	garbage    condemned  it is older than the grace time, and a head leads to a document
//	                      that names it; see [head.Gone]
//	condemned  removed    a device has read that document
//
// A waiting document cannot be distinguished from garbage. So the rules below hold for
// both. A condemned document never becomes live again.
//
// # The steps of writers, readers and Prune
//
// Each step is one request, so a step happens as a whole or not at all, and every
// step may be the last one of a process.
//
// A writer reads the head. It counts on the documents that are live by that version of
// the head, and on the documents that it stored itself since that read, and on nothing
// else. It changes the head last, and only if that is still the version that it read. A
// reader reads the head, lists segments, and then reads these.
//
// Prune does this by one version of the head, which each of its requests that change the
// head replaces by another:
//
//	list      requests that read the histories, and end here where one lacks that the
//	          head names
//	finish    requests that remove what the head condemns, and one for a head that does not
//	list      requests that read all documents
//	merge     a request each: a larger segment, and a new version of the head
//	condemn   a request: a head that does not name the former heads that are too old, and
//	          leads to a document that names these and the garbage
//	finish    as above
//
// Where the partition has no room to condemn them, a request removes up to 99 documents and
// makes such a head at once.
//
// A request whose head is another one does nothing. Prune begins again then, with the new
// head.
//
// # What merging is for
//
// A restore makes a request for each segment, and each turn that was synced by
// itself made one. A restore of 300 turns of 16 KB makes 301 requests, and 11 after
// Prune. It saves little room, and few units: merging pays where sessions are
// restored, in time.
//
// A device that lacks one line behind a merge reads the document with that line. So the
// document with the last lines of a stream gets at most 128 KB, and each one before it
// at most as many bytes as the lines behind it.
//
// # Why nothing is lost
//
//  1. A document that was live when the inventory was taken stays, because it is in the
//     live set. Where a history cannot be read, nothing of its stream is removed; where
//     the list of histories lags or is damaged, nothing of the session. Prune stops
//     before it removes anything when it meets a document of another format.
//  2. A document that becomes live later was stored by a writer that read the version of
//     the head that Prune holds, or a later one: with an earlier one it cannot change the
//     head any more. If the document was stored before the inventory, the head that condemns
//     it is another version. So if Prune is first, the writer's change fails; the writer
//     reads the head again and stores the missing lines, under other names. If the writer is
//     first, Prune's change fails, and nothing is condemned.
//  3. Of several segments with the same lines one stays, and no condemned segment is
//     among them: Prune removes the documents that the head condemns before it lists, and
//     all other devices pass over them. No segment that lacks a chunk is among them either:
//     where Prune removed a chunk while its writer slept, the writer still stores the
//     segment before its change of the head fails. A head that leads to less, as after a
//     rewind, is read from the segments of the earlier one.
//  4. A reader may be on its way to a document that it listed. So no document goes before
//     it is as old as the grace time, which is longer than a read takes, and no segment
//     before its replacement is as old. A reader that followed a former head can still
//     miss a document that became garbage just now. It reads the head again before it
//     reports damage.
//  5. A first upload has no head, so no version guards it. Its writer begins again when
//     it has taken longer than [MaxFirstUpload], 3 days. Documents without a head go
//     after 7 days at the earliest, whatever the grace time. A replica that lags may lack
//     a head that is old, so the inventory must lack it too. For a session with a head
//     the inventory must have that head in the version that was read: an older inventory
//     may have documents that were removed since.
//  6. A larger segment is stored only after its lines were read and all their hashes
//     checked. The small ones stay for as long as 4 says.
//  7. A deleted session keeps its tombstone. All else of the session is garbage. Its
//     forks are sessions of their own and need nothing of it.
//  8. Prune may be killed, or run on another device too: after each request there are the
//     same live documents, and garbage that is not removed yet. Condemned documents stay
//     condemned until a device has removed them, and several devices may remove them.
//  9. A writer that stored documents for a head that was never written, because another
//     device deleted the session or sent it anew, removes them at once: no head ever
//     leads to them. It recognises the heads that it sent by their Op and Born, also
//     where an answer was lost and another device has changed the head since.
//  10. A removal waits for no age. It makes a tombstone of each head before it removes a
//     document; remove.go has the steps, and the cases of documents that come late.
//  11. A device that recreates a session replaces the tombstone, in the version that it
//     read or wrote, and counts on nothing but the documents that it stored since. Every
//     other removal of documents of a deleted session gives the tombstone another version
//     after it listed them, and removes only listed documents; see [Empty]. Where the
//     session was in the cloud, the device wrote the tombstone itself, and continues
//     after a kill as long as that is the tombstone: a removal by another device makes it
//     another.
//  12. A device that mends stores the lines of a damaged segment again, and condemns all
//     segments that have no other lines: one of them may share the damage. A segment with
//     other lines too stays, and is read after the new segments.
//  13. A request arrives within a grace time after its device decided on it, or never. No
//     document is removed an hour after the read that the removal follows from, and no change
//     is made again an hour after its first try: [remoteread.Reader.Discard], package
//     throttle, and the remotes that store objects one by one see to it, by the wall clock,
//     which goes on while a machine sleeps. Two cases remain: a machine that sleeps between
//     that check and the request, and a remote that removes what a swap names after the swap.
//     A repeated request that stores a document makes garbage, also where a removal of that
//     name came before.
//
// The tests in orders_test.go run two or three of these at once in every order of their
// requests, and find the losses that occur where one of the rules does not hold; those in
// again_test.go find them where reason 13 does not.
//
// The service's clock decides about removals. Only former heads carry the time of the
// device that replaced them, and that agrees with the service's to a minute.
package gc
