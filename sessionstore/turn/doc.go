// Package turn stores the turn of an agent: the prompt, the answer while it streams, the
// calls of tools and their results.
//
// [Begin] stores the prompt and returns a [Turn]. [Turn.Say] and [Turn.Think] take the
// pieces of an answer, [Turn.Step] stores a row of the model that makes calls, [Turn.Call]
// asks the user about a call, runs it and stores its result, and [Turn.End] stores the
// answer. After a kill or a power cut [Resume] goes on with the turn that did not end. The
// example is the whole loop of an agent.
//
// # What a kill leaves
//
// A row is stored when the call that stores it returns, as durably as the store says. What
// Say and Think took is in the draft of the session within a second. The draft is the file
// .draft.jsonl in the session's directory. It is not synced: a kill leaves it, a power cut
// may take it. It has at most 16 MiB; what an answer says beyond that is in memory alone until End.
//
// A draft belongs to one state of the transcript, from the prompt up to the last row. It
// is void once any row is added, changed or taken away, by this turn or by another
// program: by an append, a rewind, an undo or a sync. Only the results of the turn's own
// calls leave it valid, so that an answer may stream beside them. So an answer that was
// stored before its draft was removed is shown once. A copy of a session's directory has the draft, as it
// has the conversation. A fork, an archive, an export, a search and a sync leave it out. It
// goes into the trash and comes back with its session.
//
// # Calls
//
// A call has an approval in package agentstate before it runs, under an id that is made of
// its own id and of the number and content of its row: a model may use ids again, and rows may
// come again after a rewind. It is written before the user is asked, so that other programs
// see it, and with the verdict. A call that the user did not decide about waits there, and
// another program may decide. An approved call
// runs at most once on one device. Where a process ended between the claim of a call and its
// result, the outcome of the call is not known: Resume and Call store a result that says so to
// the model, and run nothing. A program that calls accept.Fix alone tells the model as much,
// since messages do not say whether a call without a result has run.
//
// Approvals stay on the device where they were given: another device that goes on with the
// session asks anew. So does this one about a call whose row got another number, as after
// a salvage.
//
// # One turn at a time
//
// A turn owns its session ([sessionstore.Store.Acquire]) until End or [Turn.Close]. Where
// there is no such lock (sub-sessions, sessions without a workspace, Windows), and between
// the goroutines of one program, a lock of this package keeps the turns of one session
// apart. It does not keep other programs from writing the session. On a file system without
// locks it keeps the goroutines of one process apart.
package turn
