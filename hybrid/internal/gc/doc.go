// Package gc keeps what the cloud has of a session small. [Prune] gives up former
// heads after their time, merges runs of small segments, and removes garbage: the
// documents that nothing leads to any more. This page says why it removes nothing
// that anybody needs.
//
// # What leads to a document
//
//	the head                        → segments of the transcript and of each log, chunks
//	                                  of small files, histories
//	a history that the head names   → segments of its stream
//	a segment that stays            → its chunks
//
// A history is a former head, a branch, or what a log was before it was cut. The head
// names all of them. So a device that lists them knows whether the list lacks one, and
// passes over those that the head does not name.
//
// An inventory is all documents of a session, listed after its head and the histories were
// read. The live set is what of it can be reached from the left side. All else is garbage.
//
// # Names
//
// A name is fixed or drawn. Fixed are those of the head and of an entry of the catalogue:
// such a document is only replaced, and only in the version that was read; it is never
// removed. All other names have a nonce in them and are never used twice. So a removal
// needs no condition: what has that name is what was meant, or is gone already.
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
// Nobody can tell a waiting document from garbage. So what follows holds for both. Nothing
// that is condemned ever becomes live again.
//
// # Who may do what
//
// Each step is one request, so a step happens as a whole or not at all, and every
// step may be the last one of a process.
//
// A writer reads the head. It counts on what is live by that version of the head, and
// on what it stored itself since it read it, and on nothing else. It changes the head
// last, and only if that is still the version that it read. A reader reads the head, lists
// segments, and then reads these.
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
// A request whose head is another one does nothing. Prune begins again then, with
// the head that there is.
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
//  1. What was live when the inventory was taken stays, because it is in the live
//     set. Where a history cannot be read, nothing of its stream is removed; where the
//     list of histories lags or is damaged, nothing of the session. Prune stops before it
//     removes anything when it meets a document of another format.
//  2. A document that becomes live later was stored by a writer that read the version of
//     the head that Prune holds, or a later one: with an earlier one it cannot change the
//     head any more. If the document was stored before the inventory, the head that condemns
//     it is another version. So if Prune is first, the writer's change fails; the writer
//     reads the head again and stores what is missing, under other names. If the writer is
//     first, Prune's change fails, and nothing is condemned.
//  3. Of several segments with the same lines one stays, and what is condemned is none of
//     them: Prune removes what the head condemns before it lists, and all others pass over
//     it. A head that leads to less, as after a rewind, is read from what an earlier one was
//     read from.
//  4. A reader may be on its way to a document that it listed. So no document goes
//     before it is as old as the grace time, which is longer than a read takes, and no
//     segment before what is read in its place is as old. A reader that followed a
//     former head can miss something nevertheless, when that became garbage just now.
//     It reads the head again before it says that something is damaged.
//  5. A first upload has no head, so no version guards it. Its writer begins again when
//     it has taken longer than [MaxFirstUpload], 3 days. What has no head goes after 7
//     days at the earliest, whatever the grace time. A replica that lags may lack a
//     head that is old, so the inventory must lack it too. Of a session with a head the
//     inventory must have that head in the version that was read: an older one may have
//     what was removed since.
//  6. A larger segment is stored only after its lines were read and all their hashes
//     checked. The small ones stay for as long as 4 says.
//  7. A deleted session keeps its tombstone. All else of the session is garbage. Its forks
//     are sessions of their own and need nothing of it.
//  8. Prune may be killed, or run on another device too: after each request there
//     are the same live documents, and garbage that is not removed yet. What is condemned
//     stays so until a device has removed it, and may be removed by several.
//  9. A writer that stored documents for a head that came to nothing, since the session was
//     deleted meanwhile or born anew by another device, removes them at once: no head ever
//     leads to them. It knows the heads that it sent by their change and by what they were
//     born as, also where an answer was lost and another device has changed the head since.
//  10. A removal waits for no age. It makes a tombstone of each head before it removes a
//     document; remove.go tells the steps, and who removes what comes late.
//  11. A device that recreates a session replaces the tombstone, in the version that it read
//     or wrote, and counts on nothing but what it stored since. What else removes documents
//     of a deleted session gives the tombstone another version after it listed them, and
//     removes what was listed; see [Empty]. Where the session was there, the device wrote
//     the tombstone itself, and goes on after a kill as long as it is that one: a removal by
//     another device makes it another.
//  12. A device that mends stores the lines of a damaged segment again, and condemns all
//     segments that have no other lines: one of them may share the damage. What has other
//     lines too stays, and is read after what was stored.
//  13. A request whose answer was lost arrives within a grace time, or never. One that stores
//     a document makes garbage then, also where a removal of that name came before.
//
// The tests in orders_test.go run two or three of these at once in every order of their
// requests, and find what is lost where one of the rules does not hold.
//
// The service's clock decides what is removed. Only former heads carry the time of
// the device that replaced them, and that agrees with the service's to a minute.
package gc
