// Package hybrid keeps the sessions of a directory also in Azure Cosmos DB, so
// that every device of their owner has them and nothing is lost when two
// devices wrote while they were offline.
//
// A [Store] is a [sessionstore.Store] and a [workflow.Log] with a copy in the
// background. The copy never makes a local call wait or fail. Writes of this
// store only mark the session; a worker reads its files later, and finds out
// from the files alone what the cloud lacks. So there is no queue that could
// be lost: what syncs is what stands on the disk.
//
// # What is stored
//
// The lines of a stream (the transcript; for each device its events, phase
// outputs, conversation and state history) are packed into segments: documents
// that never change, named by the running hash of all lines before them. One
// small document per session, its tip, says which history counts. It alone is
// changed, by compare-and-swap, and always last. A reader follows the hashes
// back from the tip and sees one history whole, never a mixture.
//
// # What happens when devices disagree
//
// A device whose history is a beginning of the other's takes the rest, or
// gives it. A rewind goes to every device that added nothing. When both added
// something, both stay: by default the other device's history remains the main
// line, this device's becomes a branch in the cloud and a session of its own
// here, with its lineage in the metadata; see [Policy]. Metadata merges member
// by member. Logs cannot conflict: each device has its own.
//
// A session that somebody runs is not written under their hands: it stays
// Behind until they are done, or until its files were quiet for ten minutes. A
// program that keeps a session's messages in memory tells by Acquire.
//
// # Devices
//
// A device is one sessions directory on one machine; two processes that open
// it are one device. It knows what it sent and fetched from state beside the
// sessions, in .sessionstore/sync, which holds nothing that could not be found
// out again: without it sessions are compared with the cloud once more. A log
// is only ever appended to by its own device. A session that comes to a device
// gets the longest log of each kind as its file and goes on behind it; the
// logs of other devices lie beside the state, see [Store.Logs].
//
// # Requests
//
// All retries are made here, whatever the client was told. A [Budget] holds
// what requests have in common: it slows down when the account throttles,
// stops when it does not answer and lets a single request find out whether it
// is back. Whether a request was done that got no answer is told by the tip. An
// account that refuses everything is asked every 15 minutes, and by each
// explicit call. A turn is one point read and one batch of its new segments and
// the tip; an idle session costs nothing.
//
// # Bounds
//
// Four sessions are synced at once. Each has at most 8 MB of requests and
// answers under way, and in memory its longest line: once while it is sent,
// twice while it is fetched, and once more where it is compared with another
// one, as in event logs. What waits for the cloud are names of sessions, however
// long it is away.
//
// # Privacy
//
// Names of sessions, users and projects are members of documents, never of
// their ids. A [Redactor] sees every line before it is hashed and sent, also
// the lines of metadata and configuration; the files here keep their bytes,
// but for members of metadata that two devices changed at once. Errors and logs
// hold no content.
//
// # Upkeep
//
// Turns leave many small documents, rewinds and merges leave some that nothing
// leads to. [Store.Upkeep] makes few large ones of them and removes the rest,
// once they are old enough; former tips go after 30 days. It is safe beside
// writers of other devices: all that it does is bound to the tip by which it
// was decided, and whoever decided something by an older one looks again. What
// has no room in a tip, as the ninth former tip, lies in documents of its own.
//
// # Scale
//
// What things cost, as the strict server of the tests counts them with the
// published prices, in request units (a point read of 1 KB costs one), and what
// stays. Below is what 1 million users come to with 20 turns a day each, every
// turn with an entry of the catalogue, and a device that is on for 8 hours a
// day; the peak may be four times the mean that is shown.
//
//	                                                           units      stored
//	a turn of 16 KB                                             25.6     12.3 KB
//	the same with an event that repeats the session             37.5     24.3 KB
//	an entry of the catalogue, each 30 s at most                12.6      0.4 KB
//	a look at the catalogue, each Interval                       2.8
//	whether a session is what the cloud has                      1.0
//	a restore of a session of 20 turns                          56.0
//	its upkeep, once                                           480.3
//	its restore after that                                      31.9
//	all of it before, in 22 documents                                   250.4 KB
//	and after, in 2                                                     238.7 KB
//
//	                                                         units/s   10⁹/month    GB/month
//	transcripts, Interval 1 min                                24393          63     7025 GB
//	with events, Interval 1 min                                27153          70    13894 GB
//	transcripts, Interval 10 min                               10393          27     7025 GB
//	with events, Interval 10 min                               13153          34    13894 GB
//	of these for looks at the catalogue each minute            15556          40
//
//	busiest partition: a session with a turn each 10 s  3.7 of 10000 units/s
//	a user's 20 GB of catalogue are full after, in sessions  50 million
//
// The load spreads over as many partitions as there are sessions, and long
// streams go on in partitions of their own after 4 GB; no key is written by more
// than one user. Where many devices idle, a longer Interval saves more than
// anything else.
//
// # What is not promised
//
// A session removed here stays in the cloud and is not brought back unless it
// is named; [Store.DeleteRemote] removes it there and no file anywhere.
// Lines reach the cloud some time after they were written, never before. What
// a crash or a power cut took from the disk before it was sent is gone. A line
// of more than 1 GiB is not sent, nor what follows it. Small files of more than
// 64 MiB stay here.
package hybrid
