// Package syncer syncs one session: it brings the files of a session of this device and
// its copy in the cloud into step, so that nothing is lost that either has. [Syncer.Sync]
// does that. The other methods read, restore, check or remove one session by the same
// means. Which sessions are synced, and when, is not decided here: package hybrid has the
// queue, and documents the states that users see.
//
// # The five steps of a sync
//
//	scan    read the state of the files: their lines as chains of hashes, and their
//	        stamps. Nothing is locked, and each file is read only where it changed.
//	plan    read the head, the one document that says which history counts. Package
//	        syncplan compares both sides, as a function without side effects.
//	push    store the lines that the cloud lacks as segments, which never change,
//	        then replace the head, if it has not changed since.
//	pull    fetch the lines that are missing here into a file beside the states,
//	        check their hashes, then install them under the session's locks, if the
//	        files have not changed since the scan.
//	finish  write the entry of the catalogue, the state of the session, and a
//	        checkpoint: the state of the files when both sides had the same.
//
// A plan asks for a push, a pull, both or none. Where both sides added lines, it asks to
// diverge: push the lines here as a branch, make a session of its own here that keeps it,
// and then pull. Small files are merged on the way; logs of other devices are fetched by
// a pull alone.
//
// # The states of one session
//
// The known state of a session is the last head that was read or written, the base, which
// is the last point of the transcript that both sides had, and the state of the files at
// that time. So a session is in one of these states:
//
//	unknown     no head is known: the next sync compares all of it
//	in step     base, files and head have the same point: nothing to do
//	ahead       the head has the base's point, and the files are not there any more
//	behind      the files have the base's point, and the head is another one
//	apart       neither has the base's point any more
//	deleted     the head is a tombstone: the files stay, and nothing is sent but by a
//	            call for that, or to go on with one; see recreate.go
//	absent      it is not here; gone, if it was here before
//
//	            push              files written
//	unknown ──────────▶ in step ─────────────────▶ ahead ──▶ push ──▶ in step
//	                       │ head written elsewhere   │ head written elsewhere
//	                       ▼                          ▼
//	                    behind ──▶ pull ──▶ in step  apart ──▶ diverge ──▶ in step
//	                       │ files in use
//	                       ▼
//	                    waits, and is tried again
//
// A state is never stored as such: each sync finds it out from the files and the head.
// The stored data only saves work, and can be lost at any time.
//
// # What may run at the same time
//
//   - In one process, one sync of a session runs at a time: [Syncer.Enter].
//   - Syncs of other processes and devices may run at any time, and in any step. Of
//     several that reach the push, the first to replace the head wins. Every
//     other gets [remoteread.ErrLost], and begins again with the scan.
//   - Programs may write the files during all steps but the install, which holds the
//     session's locks. An install that meets other files than those that were scanned
//     changes nothing and begins again with the scan.
//   - No install changes a session that a program uses: see permit.go for the rule. It
//     is asked before lines are fetched, and again under the locks.
//   - Pruning and deletion may run at any time: they replace the head that they
//     decided by. The segments that a new head leads to are stored no longer
//     before it than pruning waits; see package gc.
//
// # Why nothing is lost
//
//   - Lines here are only replaced by a history that contains them, unless they are
//     in the cloud already: diverge pushes the branch and makes the copy before it
//     pulls. The replaced file stays as the backup of the transcript.
//   - Lines in the cloud are only dropped from the head by a rewrite. Then the next
//     head names the former one as a history, which was stored before, and nothing
//     that it leads to is removed for as long as histories are kept.
//   - A device that decides by the absence of a history, as when it looks for a
//     branch of its own, stops where the list lacks a history that the head names.
//   - A head leads only to segments that were stored before it, or in the same
//     request. A sync that is interrupted before leaves segments that nothing leads
//     to, which pruning removes.
//   - A rewrite is believed only where the store itself takes the files as they are:
//     files that a power cut cut short, or that an append left open, wait.
//   - Files are made durable before a head or a state says that they were there.
//     Otherwise a power cut would look like a rewind, and spread to all devices.
//   - A request without an answer may have been done. The next scan reads the head,
//     whose name of the last change gives the answer.
//   - A part that is damaged in the cloud and whole here is stored again. A damaged
//     part that is not here is named in the result; the rest is installed without it.
//
// # Redaction
//
// All hashes are of lines as they leave. The form that a line left in is stored, and
// never asked of the rules again: package track documents how. For small files own.go
// does that, and keeps parts that rules changed in the files of the device that wrote
// them. For sessions that were sent anew, reborn.go finds the new forms.
//
// # The types of this package
//
//	session   its identity, the options of the call, and its stored state
//	local     its files here, since the last scan: scan, and peek, which takes no notes
//	cloud     its copy in the remote, by the last head: lists, checks, the catalogue
//	work      both, compared, and the steps that follow: plan, build, commit, install
//	draft     a head in the making, with the documents that it needs
//
// A call that makes no request uses a local, [Syncer.Preview] a cloud, and all others a
// work. With [Fetch], a draft has no new lines of this device except the branch that a
// divergence keeps.
package syncer
