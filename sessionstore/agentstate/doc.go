// Package agentstate keeps the state that an agent needs after a restart, in files of this
// library's own format, and apart from it the state that the agent must forget.
//
// A [State] is persistent. It has two files in the session's directory of a
// [sessionstore.Store]: state_history.jsonl, an append-only log, has the
// history of items; state.json has approved commands, tokens, rate limits, and
// values under names that the caller chooses. Each operation is stored when it
// returns, under the session's lock, so many processes may share a state and
// none loses another's update. It is durable as [sessionstore.Durability] of
// the store says, unless [Options] ask for less. Recording items writes these
// items and state.json, however long the history is. When another process wrote
// in between, the history is read once.
//
// A [Runtime] is memory alone: the execution state, turns, tool use, errors,
// the interrupt and pending approvals. A [Session] joins both.
//
// In the data model that describes them, a State is SessionState: recordItems is
// [State.RecordItems], historySnapshot [State.History], addTokenUsage
// [State.AddTokenUsage], addApprovedCommand [State.AddApprovedCommand], isCommandApproved
// [State.IsCommandApproved], export [State.Export] and import [State.Import]. A ResponseItem
// is a JSON object with a type or a role. A Session is Session: addToHistory is
// [Session.AddItems]; executionState, currentTurn, turnHistory, toolUsageStats, errorHistory,
// interruptRequested and pendingApprovals are methods of Runtime.
//
// Approvals that must survive a restart are in pending_approvals.json, each bound to one
// call that runs at most once, whatever is killed in between, and not at all when the
// user's last verdict rejected it. [State.KeepPending], [State.Decide] and [State.Claim] each
// write the file; [State.ClaimDecided] does for a call that is decided and run at once what
// the three do, in one write. A call that ran leaves the file; its id and a digest stay
// there, by which it is refused. Programs of earlier versions refuse it, too: their Claim says
// [ErrOtherCall].
//
// # Where an approval counts
//
// An approval counts in the session and the sessions directory in which it was given. Each
// approved call and each approved command has a mark, made with a key of the directory:
// .sessionstore/approvals/key, which the first approval makes. Without a valid mark an
// approved call is [Undecided], and a command is not approved. So the user is asked anew
// where the files of a session come by a sync, an archive, a copy under another id or in
// another directory, or a program that writes "approved" into them. Rejections, and what
// ran, need no mark. Files of earlier versions have no marks. [State.Import] approves here
// what it brings.
//
// What was approved stays so in a session that comes back from the trash. Without the key
// everything that was approved is asked for anew; a key that cannot be read is an error that
// says what to do. A copy of the whole directory with its .sessionstore counts as the
// directory itself. Files that another program puts back, under the same id, as they were
// before a call ran allow the call again.
//
// # Files
//
// Unknown members of the files are kept. A file of another version is refused
// ([ErrVersion]). So is a file with a member of a wrong type, when that member is asked for
// ([ErrDamaged]). Both stay as they are. A state.json that cannot be read is put aside at
// the next write, and its backup is read instead. All types may be used by many goroutines.
//
// Package sessionstore/turn asks, runs and stores results in the right order, and the
// example Resume of package slice/accept shows how an agent goes on with a session by it.
package agentstate
