// Package hybrid keeps the sessions of a directory also in a remote, such as a container
// in Azure Cosmos DB, a bucket of S3 or a directory that devices share, so that every
// device of their owner has them and nothing is lost when two devices wrote while they were
// offline.
//
// In the design of the Python tools this is HybridSessionStore: [Open] is its constructor,
// cosmos_config (CosmosConfig) is Options.Remote, made by package cosmos, sync_enabled=False
// is Options.Manual, and sync() and pull() are [Store.Sync] and [Store.Pull].
//
// A [Store] is a [sessionstore.Store] and a [workflow.Workflow] with a copy in the background.
// The copy never makes a local call wait or fail. A write of this store only marks the
// session; a worker reads its files later, and finds out from the files alone which lines
// the remote lacks. So there is no queue to lose: the worker syncs the files on the disk.
//
// # What is stored
//
// The lines of a stream (the transcript; for each device its events, phase
// outputs, conversation and state history) are packed into segments: documents
// that never change, named by the running hash of all lines before them. One
// small document per session, its head, says which history counts. It alone is
// changed, by compare-and-swap, and always last. A reader follows the hashes
// back from the head and sees one history whole, never a mixture.
//
// A fork, and a conflict copy, is a session of its own: it is stored whole, and needs
// nothing of its parent.
//
// # From a save to the other device
//
//  1. A write of this store marks its session, and returns. Every Background.Interval a
//     scan finds what other programs write: it looks at the names, sizes and times of
//     the files and opens none.
//  2. The worker waits until no write came for 200 ms, reads the session's files,
//     and packs the lines that the remote lacks into segments.
//  3. It stores the segments and replaces the head, in one request where they fit,
//     if the head is still the one it read. If not, it begins anew with the scan.
//  4. It writes the session's entry in the catalogue: at once in Sync, Close and
//     Shutdown, and at most each 30 s in the background.
//  5. The other device asks the catalogue for new entries every Interval, reads the
//     head, fetches the segments behind the lines that it has, checks their hashes, and
//     installs the lines under the session's locks, unless a program runs it.
//
// # The states of a session
//
// [Pending] and the constants after it. A write makes the session Pending, unless it is Local, KeptLate,
// Blocked or Removed. After a sync without an error it is none of Pending, Deferred and Blocked.
// [Status].Last is the outcome of the last sync beside the state: it Pushed, Pulled,
// replaced the history in the remote (Rewritten), or kept two histories (Diverged).
//
// # Previews
// [Store.Remote] lists the sessions in the remote from the catalogue, with their names and
// numbers of turns. It makes no request for a single session. [Store.Preview] also
// returns the description of a session, and its last messages: it reads the head and the last
// segment, and changes nothing here.
//
// # What happens when devices disagree
//
// If the history of one device is a beginning of the other's, the first device gets the
// rest. A rewind goes to every device that added nothing. When both added something,
// both stay: by default the other device's history remains the main line, this device's
// becomes a branch in the remote and a session of its own here, with its lineage in the
// metadata, which ConflictOf of [sessionstore.Summary] shows; see [Policy]. While the
// program here goes on writing, the files cannot be changed, and both histories grow. A
// branch replaces the branches that it continues, so a divergence leaves one branch.
// Approvals of package agentstate count on the device on which they were given: elsewhere,
// and for a call that is in the conflict copy, the program asks anew. Metadata merges
// member by member. Logs cannot conflict: each device has its own.
//
// # Which program uses a session
//
// A sync changes no session that a program uses: it stays Behind. A program that opened
// the directory with this package uses a session for ten minutes after each write to it,
// and as long as it holds it by Acquire. The programs of a device record in
// .sessionstore/processes which sessions they use; two stores of one process are two
// programs. A program of this library that has ended, also by a kill, no longer uses a
// session, and a sync is no use of one: a later sync waits for neither. After a write of any
// other tool, which may keep the messages in memory, a sync waits ten minutes. A program
// that opened the directory with package sessionstore alone, or without a remote, is such a
// tool. A program that goes on with a session calls [Store.Refresh] first. The whole rule is
// a table in hybrid/internal/syncer/permit.go.
//
// # Devices
//
// A device is one sessions directory on one machine; two processes that open it are one
// device. A directory that was moved is a new device: a rewind that was not sent is
// undone there, and a session that was deleted here alone comes back. Its id is random,
// and recorded in .sessionstore/devices, in a file with a line for each machine, as
// machines may share a home. The system's own id of the machine decides which line is its
// own (/etc/machine-id, IOPlatformUUID, MachineGuid), never the host name. All machines
// without such an id, as containers are, share one line. Machines that have a copy of one
// machine-id and of the directory are one device, too: nothing is lost then, but they do
// not get each other's logs. A damaged file is an error of [Open]; Options.Device does
// without it. A device keeps the state of its syncs beside the sessions, in
// .sessionstore/sync. It remembers there what must not leave (Options.Private, KeepLocal,
// Options.Redact, and for each session its parents and whether it was kept, whatever User and
// Project are): do not remove it. The rest could be found out
// again: without it sessions are compared with the remote once more. A log is only ever
// appended to by its own device. A session that arrives at a device gets the longest log
// of each kind as its file and continues it; the logs of other devices are kept beside
// the state, see [Store.Logs]. A pull fetches the lines that those logs lack and appends
// them: an event of 4 KB costs 6 request units, however long the log is.
//
// # Requests
//
// This package makes all retries itself, whatever the options of the client say, and
// reports each request of a remote to the Observer. Stores that share [Limits] wait
// together. Package remote says which error shuts a remote, and for how long: while it is
// away, all calls return [ErrUnreachable] at once, and then a single request finds out
// whether it is back; one that refuses everything is also asked by each explicit call. When
// a request gets no answer, the head shows whether the request was done. A turn is one
// point read and one batch of its new segments and the head; an idle session costs
// nothing. The state on the disk records up to where the catalogue was
// read, the entries that were read, and the stamps of the files of each session at the
// last sync. So a process asks for and opens only what changed since the last process. A
// Sync of all sessions reads the heads of the six that changed last. For the others it
// relies on the catalogue.
//
// When a remote was made anew, or restored from a backup, beside a running store, the
// next sync that finds its head gone notices it, and otherwise the store within an hour.
// Then all sessions are compared with the remote, and missing lines are sent again. A head
// that is older than the known one is followed only after 15 minutes: a replica that is
// behind shows one too. Give an account of Cosmos DB the consistency Session, its
// default, or a stronger one: below it a read may return less than this device has sent.
//
// # Bounds
//
// Four sessions are synced at once. Each has at most 8 MB of requests and answers under
// way, and in memory its longest line: once while it is sent, twice while it is
// fetched, and once more where it is compared with another one, as in event logs. While
// the remote is away, the store keeps only the names of sessions that wait, however long
// that lasts.
//
// # Privacy
//
// Names of sessions, users, projects and hosts are members of documents, never of their ids. A
// [Redactor] sees every line before it is hashed and sent, also the lines of metadata and
// configuration; the files here keep their bytes. When another device changed a small
// file, the members, elements and lines that it did not change keep their bytes here.
// When two devices changed a member or file at once, the later change wins; the other is
// kept beside the state, as it was written here. Lines that were removed here and that a
// pull brings back come as they were sent. Errors and logs hold no content.
//
// The settings Options.Private, KeepLocal and Options.Redact are remembered beside the
// sessions, and hold for every program that opens the directory, with or without options;
// of a Redactor only the version is remembered. A program without options applies the
// built-in rules where the directory remembers these. Otherwise it sends nothing, with
// [ErrRedaction], and neither does a program with weaker rules, which replace none: README.md
// says which are weaker. [Exact] ends the remembered redaction. Forks, sub-sessions and
// conflict copies of a session that stays here stay, too, to any depth. A session is held
// back with [ErrHeld] when its metadata cannot be read, or, where there are rules, its parent
// is neither here nor in the remote. It is Blocked then, and a Sync of all sessions, Close
// and Shutdown succeed beside it. A session that went through rules gets no lines from
// devices that do not apply them.
//
// Rules may change within one name, which is their version up to the slash: a new version
// of [Secrets], or other patterns. A line keeps the form in which it was first sent, on
// every device. New rules hold for the lines that are sent from then on, and the head
// says which lines went through which version. Where a device lost its state of a session
// and its rules changed, too, it fetches the transcript once to find the sent lines.
// [Store.Recreate] sends the lines that were sent before anew under today's rules.
//
// # Pruning
//
// Turns leave many small documents. Rewinds and merges leave documents that nothing leads
// to. [Store.Prune] makes few large documents of the small ones, and removes the rest
// once it is old enough. Former heads and cut parts of logs go after 30 days; where a
// session has more than 1,000 former heads, the oldest go earlier. Tombstones stay. It is
// safe beside writers of other devices: the head names the documents before they are
// removed, by a swap that succeeds only on the head that Prune decided by, and a device
// that decided by an older head begins again. Where the list of former heads and branches
// lags, nothing is removed.
//
// # Another remote
//
// [Copy] copies a project to another remote, object by object, into an empty project. Where a
// copy that was killed goes on, it replaces a head there only if a mark beside the head tells
// that the copy stored it. The mark is an object whose name is a hash of the head and of the
// identity of the source, and is stored before the head. So no head of a device is replaced.
//
// A directory whose sessions were synced with one remote may be opened with another one.
// The heads that it knows are of the former one. Where the other remote has the same head,
// as a copy has, the sync goes on from there. Otherwise all lines are compared: nothing is
// lost then, but messages that were rewound here and not sent before may come back. What
// was removed is not sent to another remote either. [LastSync] returns when a directory
// was synced last.
//
// # Scale
//
// The first table shows what things cost in request units (a point read of 1 KB costs
// one), and how much storage they take. The strict server of the tests counts this with
// the published prices. The second table shows the sum for 1 million users with 20 turns
// a day each, every turn with an entry of the catalogue, and a device that is on for 8
// hours a day; the peak may be four times the mean that is shown.
//
//	                                                           units      stored
//	a turn of 16 KB                                             26.1     12.1 KB
//	the same with an event that repeats the session             38.2     24.0 KB
//	an entry of the catalogue, each Sync or 30 s                13.0      0.4 KB
//	a read of the catalogue, each Interval                       2.8
//	whether a session is what the remote has                      1.0
//	a preview of a session of 20 turns                           6.3
//	a restore of a session of 20 turns                          55.6
//	its pruning, once                                          538.9
//	its restore after that                                      34.9
//	all of it before, in 22 documents                                   246.6 KB
//	and after, in 5                                                     234.8 KB
//
//	                                                         units/s   10⁹/month    GB/month
//	transcripts, Interval 1 min                                24605          64     6921 GB
//	with events, Interval 1 min                                27403          71    13753 GB
//	transcripts, Interval 10 min                               10605          27     6921 GB
//	with events, Interval 10 min                               13403          35    13753 GB
//	of these for reads of the catalogue each minute            15556          40
//
//	busiest partition: a session with a turn each 10 s  3.8 of 10000 units/s
//	a user's 20 GB of catalogue are full after, in sessions  50 million
//
// The load spreads over as many partitions as there are sessions; no key is written by
// more than one user. Where many devices idle, a longer Interval saves more than
// anything else.
//
// A session has one partition, which holds 20 GB. When it is full, Sync returns [ErrFull]
// for this session, and the others go on. Nothing is lost here. [Store.Prune] makes room
// if former histories and garbage fill it; a session that is full of lines continues in
// another session.
//
// # What is not promised
//
// A session deleted here stays in the remote and is not brought back unless it is named;
// [Store.Remove] removes it there and no file anywhere. After a removal by mistake,
// [Store.Recreate] sends the lines that a device has, and nothing that was only in the
// remote. For a session that is still there it gives up former histories and branches.
// Lines reach the remote some time after they were written, never before. Lines that a
// crash or a power cut took from the disk before they were sent are gone. A line of more
// than 1 GiB is not sent, nor what follows it. Small files of more than 64 MiB stay here.
// The files in the folder import of a session are sent with it, unless there is a
// Redactor: it cannot be applied to compressed files.
package hybrid
