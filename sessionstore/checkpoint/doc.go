// Package checkpoint keeps the state of a phased workflow in session-state.json, a file of
// the Scientific Analysis Architect's format, so that it can be resumed after each phase,
// rolled back and cleaned up.
//
// A workflow writes documents into an output directory. Its session directory, inside of
// that or in the temporary directory, holds session-state.json: the status, the completed
// phases, the places of their outputs, and the user's approvals and decisions. Versions
// 1.0, 2.0 and 2.1 are read, 2.1 is written. Unknown members are kept. Other versions are
// refused, and never rewritten. An approval of a phase is part of the file and goes with it,
// also into a copy or an archive, unlike the approvals of package agentstate.
//
// In the session schema that describes it, find_resumable_sessions is [Dir.FindResumable],
// resume_session [Run.Resume], checkpoint_phase [Run.Checkpoint], rollback_to_phase
// [Run.Rollback], log_user_decision [Run.Decide], and cleanup_old_sessions [Dir.Cleanup].
// config.num_chapters is [State.Chapters], user_context is [State.Context].
//
// Each change reads the file, changes it and replaces it under a lock, so two processes
// never lose each other's update. It is durable when the call returns, as
// [Options].Durability says, and the state before is in session-state.json.backup. That is
// read when session-state.json is missing or is no JSON; see [State.Recovered].
//
// A state is at most 64 MB. A call that waits more than 10 s for the lock fails
// with [sessionstore.ErrLocked]; readers take no lock. All methods may be
// called by many goroutines.
package checkpoint
